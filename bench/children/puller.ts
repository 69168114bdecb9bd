import { childOptions, serveTasks } from '../tools/child.ts'
import { type Address, encodeRequest } from '../tools/connection.ts'
import { load } from '../tools/load.ts'

/** Clients in a separate process, so that their reads do not delay the measured client. */

const { address } = childOptions<{ address: Address }>()

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
}

export type PullerTasks = typeof tasks

serveTasks(tasks)
