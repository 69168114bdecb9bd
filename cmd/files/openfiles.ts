import { readFileSync } from 'node:fs'
import { codeOf, StartError } from './starterror.ts'

/** Fewer files than a server has open with a few clients: the store, logs, the threads of Node, connections to other servers. */
const fewest = 128

/** The limit of open files of the process; Infinity where the system does not tell it in `/proc`. */
export function openFileLimit(): number {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit)
  } catch (error) {
    if (isOutOfFiles(error)) throw new StartError(outOfFiles)
    return Number.POSITIVE_INFINITY
  }
}

/** Throws `StartError` when the process may not open the files of a server. */
export function checkOpenFileLimit(): void {
  const limit = openFileLimit()
  if (limit < fewest)
    throw new StartError(
      `The limit of open files of this process is ${limit}: raise it to ${fewest} or more, such as with "ulimit -n 1024".`,
    )
}

export const outOfFiles =
  'The limit of open files of this process is reached: raise it, such as with "ulimit -n 1024".'

/** Whether an error is that the process has no file left. */
export const isOutOfFiles = (error: unknown): boolean => codeOf(error) === 'EMFILE'
