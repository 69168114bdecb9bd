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
