/** The result of steps that nothing interrupts. */
export function resultOf<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
