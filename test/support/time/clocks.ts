import { mock } from 'node:test'

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

/** Clocks and timers that stand still. */
export interface StoppedClocks {
  pass(milliseconds: number): void
  restore(): void
}

/** Stops the clocks and the timers of this process until they are restored. */
export function stopClocks(): StoppedClocks {
  let passed = 0
  for (const clock of [Date, performance]) {
    // Whole: sums and differences of fractions are not exact.
    const start = Math.ceil(clock.now())
    mock.method(clock, 'now', () => start + passed)
  }
  mock.timers.enable({ apis: ['setTimeout'] })
  return {
    pass(milliseconds) {
      passed += milliseconds
      mock.timers.tick(milliseconds)
    },
    restore() {
      mock.timers.reset()
      mock.restoreAll()
    },
  }
}
