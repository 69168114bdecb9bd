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
