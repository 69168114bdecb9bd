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
  }: {
    path: string
    connections: number
    milliseconds: number
  }) => {
    const request = encodeRequest({ path })
    return load(address, { connections, milliseconds, request: () => request })
  },
}

export type PullerTasks = typeof tasks

serveTasks(tasks)
