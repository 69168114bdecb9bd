/** What is there at once where nothing has to be waited for: most steps of most requests. */
export type Awaitable<T> = T | Promise<T>

/** The next step: at once when the value is there, else when it comes. */
export const after = <T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> =>
  value instanceof Promise ? value.then(next) : next(value)

/** Always a promise, also of what is thrown at once. */
export const promised = async <T>(work: () => Awaitable<T>): Promise<T> => work()

/** What `work` makes; what it throws, now or later, is for `otherwise`. */
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
