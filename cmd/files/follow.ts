import { isDeepStrictEqual } from 'node:util'
import type { Logger } from '../../framework/contract/log.ts'

/** Files that are reloaded by polling, because they are often links into directories that are replaced. */
export interface FileWatch<T> {
  /** Name of the files, for the log. */
  readonly what: string
  /** The content in use. */
  readonly current: T
  readonly read: () => Promise<T>
  /** Throws, and changes nothing, on invalid content. */
  readonly use: (next: T) => void | Promise<void>
  readonly log: Logger
  /** Stops the polling. */
  readonly signal: AbortSignal
}

/** How long files are followed. */
export type FileWatchEnding = Pick<FileWatch<unknown>, 'log' | 'signal'>

const interval = 2_000

/** Calls `use` when the content changes. An error is logged once, and the files are read again later. */
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
      if (message !== problem)
        log.error({}, `the changed ${what} cannot be used, and the previous state is still used: ${message}`)
      problem = message
    }
  }
  // Without a listener: Node warns of more than ten at one signal.
  const timer = setInterval(() => (signal.aborted ? clearInterval(timer) : void look()), interval).unref()
}
