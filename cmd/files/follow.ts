import { isDeepStrictEqual } from 'node:util'
import type { Logger } from '../../framework/contract/log.ts'

/** Files that are read again while the server runs: they are often links into folders that are exchanged as a whole. */
export interface FileWatch<T> {
  /** What it is, for the log. */
  readonly what: string
  /** As it is used now. */
  readonly current: T
  readonly read: () => Promise<T>
  /** Throws, and changes nothing, on what cannot be used. */
  readonly use: (next: T) => void | Promise<void>
  readonly log: Logger
  /** Ends it. */
  readonly signal: AbortSignal
}

const interval = 2_000

/** Uses what files become. What cannot be read or used is told once, and the files are looked at again. */
export function follow<T>({ what, current, read, use, log, signal }: FileWatch<T>): void {
  let known = current
  let problem = ''
  const look = async (): Promise<void> => {
    try {
      const next = await read()
      if (!isDeepStrictEqual(next, known)) {
        await use(next)
        known = next
        log.warn({}, `${what} reloaded`)
      }
      problem = ''
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (message !== problem) log.error({}, `the changed ${what} cannot be used: ${message}`)
      problem = message
    }
  }
  const timer = setInterval(() => void look(), interval).unref()
  signal.addEventListener('abort', () => clearInterval(timer))
}
