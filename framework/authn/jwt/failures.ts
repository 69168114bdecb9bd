import { StatusError } from '../../meta/errors.ts'

/** Characters of a text of an issuer in an error. */
const longest = 1_000

/** The beginning of a text that an issuer or a token has. */
export const brief = (text: string): string => text.slice(0, longest)

/** Throws the error again if it says that the request may be repeated, not that a token is invalid. */
export function passOn(error: unknown): void {
  if (error instanceof StatusError) throw error
}

/**
 * Calls `fetch` once for all that wait, for the first of them. After a failure it rejects with the same message for `cooldown`
 * milliseconds, without another call, unless the failure is a `StatusError`.
 */
export function onceAtATime<A, T>(
  cooldown: number,
  fetch: (first: A) => Promise<T>,
): (caller: A) => Promise<T> {
  let pending: Promise<T> | undefined
  let failure: { readonly reason: string; readonly until: number } | undefined
  const attempt = async (first: A): Promise<T> => {
    try {
      return await fetch(first)
    } catch (error) {
      passOn(error)
      failure = { reason: brief((error as Error).message), until: performance.now() + cooldown }
      throw new Error(failure.reason)
    } finally {
      pending = undefined
    }
  }
  return async caller => {
    if (pending === undefined && failure !== undefined && performance.now() < failure.until)
      throw new Error(failure.reason)
    pending ??= attempt(caller)
    return pending
  }
}
