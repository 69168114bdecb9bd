/** Repeats a step until the work is over, and returns how often. Rejects when one of them does. */
export async function repeatDuring(work: Promise<unknown>, step: () => Promise<unknown>): Promise<number> {
  let [count, isOver] = [0, false]
  const done = work.finally(() => {
    isOver = true
  })
  for (; !isOver; count++) await step()
  await done
  return count
}

/** The turns of the event loop until the work is over. */
export const turnsDuring = (work: Promise<unknown>): Promise<number> =>
  repeatDuring(work, () => new Promise(setImmediate))
