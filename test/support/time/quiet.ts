/** Resolves when a number has not changed over 200 turns of the event loop. */
export async function quiet(read: () => number): Promise<void> {
  for (let turns = 0, last = -1; turns < 200; turns++) {
    if (read() !== last) turns = 0
    last = read()
    await new Promise(setImmediate)
  }
}
