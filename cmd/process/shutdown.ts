import type { Logger } from '../../framework/contract/log.ts'

/** Resolves at the first SIGINT or SIGTERM; the second one ends the process at once. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    let stopping = false
    const onSignal = (signal: NodeJS.Signals): void => {
      if (stopping) process.exit(1)
      stopping = true
      resolve(signal)
    }
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  })
}

/**
 * Ends the process with code 1 and one line after `milliseconds`, unless it has ended before: an etcd that does not answer delays
 * the steps of a shutdown for longer than supervisors wait. Acknowledged writes are durable already.
 */
export function endAtLatest(milliseconds: number): void {
  const end = (): void => {
    process.stderr.write(
      `oriel: the server did not stop within ${milliseconds / 1_000} seconds, because its store or a client did not answer, and was ended.\n`,
    )
    process.exit(1)
  }
  setTimeout(end, milliseconds).unref()
}

/** The last log line of a server that stopped at a signal. */
export const logStopped = (log: Pick<Logger, 'info'>): void => log.info({}, 'the server has stopped')

/** Ends the process after a shutdown: timers and connections of plugins would keep it running. */
export function endDespitePlugins({
  view,
  views,
}: {
  readonly view?: readonly string[]
  readonly views?: string
}): void {
  if (view !== undefined || views !== undefined) process.exit(process.exitCode ?? 0)
}
