const anHour = 3_600_000

/** Runs `work` as if `milliseconds` had passed, during which the time of day was set back by an hour. */
export async function afterSettingBack<T>(milliseconds: number, work: () => T | Promise<T>): Promise<T> {
  const [timeOfDay, elapsed] = [Date.now, performance.now.bind(performance)]
  Date.now = () => timeOfDay() - anHour
  performance.now = () => elapsed() + milliseconds
  try {
    return await work()
  } finally {
    Date.now = timeOfDay
    performance.now = elapsed
  }
}
