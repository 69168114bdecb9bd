/** Starts work in its order, so that at most so much is in progress at a time. */
export function atMost(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let started = 0
  const next = (): void => {
    if (started >= most) return
    const start = waiting.shift()
    if (start === undefined) return
    started++
    start()
  }
  return async work => {
    await new Promise<void>(start => {
      waiting.push(start)
      next()
    })
    try {
      return await work()
    } finally {
      started--
      next()
    }
  }
}
