import { childOptions, serveTasks } from '../tools/child.ts'
import { type Address, Connection, encodeRequest, type Request } from '../tools/connection.ts'
import { load } from '../tools/load.ts'

/** Clients in a separate process, so that their work does not delay the measured client. */

const { address } = childOptions<{ address: Address }>()

interface Flood {
  /** `%d` in the body is the number of the request. */
  readonly request: Request
  readonly connections: number
}

let isFlooding = false
let sent = 0

/** Sends the request again and again, whatever the answers are. */
async function flood({ request, connections }: Flood): Promise<void> {
  isFlooding = true
  const next = (): Buffer =>
    encodeRequest({ ...request, body: String(request.body ?? '').replace('%d', String(sent++)) })
  const client = async (): Promise<void> => {
    let connection = await Connection.open(address)
    while (isFlooding) {
      const status = await new Promise<number>(resolve => connection.ask(next(), resolve))
      if (status !== 0) continue
      connection.close()
      connection = await Connection.open(address)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: connections }, client))
}

const tasks = {
  /** Pulls a path without pause. */
  pull: ({
    path,
    connections,
    milliseconds,
    token,
  }: {
    path: string
    connections: number
    milliseconds: number
    token?: string
  }) => {
    const request = encodeRequest({ path, ...(token && { token }) })
    return load(address, { connections, milliseconds, request: () => request })
  },
  flood,
  /** `flood` resolves with the responses that are open. */
  calm: () => {
    isFlooding = false
  },
}

export type PullerTasks = typeof tasks

serveTasks(tasks)
