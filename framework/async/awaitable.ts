/** A value, or a promise of it. Most steps of most requests have the value at once. */
export type Awaitable<T> = T | Promise<T>

/** Calls `next` with the value: synchronously unless the value is a promise. */
export const after = <T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> =>
  value instanceof Promise ? value.then(next) : next(value)

/** Always a promise: an error that `work` throws synchronously becomes a rejection. */
export const promised = async <T>(work: () => Awaitable<T>): Promise<T> => work()

/** The result of `work`; errors, thrown or rejected, are passed to `otherwise`. */
export function attempt<T, R>(
  work: () => Awaitable<T>,
  otherwise: (error: unknown) => Awaitable<R>,
): Awaitable<T | R> {
  try {
    const made = work()
    return made instanceof Promise ? made.catch(otherwise) : made
  } catch (error) {
    return otherwise(error)
  }
}
