/** Characters of a text of an issuer in an error. */
const longest = 1_000

/** The beginning of a text that an issuer or a token has. */
export const brief = (text: string): string => text.slice(0, longest)

/**
 * Calls `fetch` once for all that wait. After a failure it rejects with the same message for `cooldown` milliseconds, without
 * another call.
 */
export function onceAtATime<T>(cooldown: number, fetch: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined
  let failure: { readonly reason: string; readonly until: number } | undefined
  const attempt = async (): Promise<T> => {
    try {
      return await fetch()
    } catch (error) {
      failure = { reason: brief((error as Error).message), until: performance.now() + cooldown }
      throw new Error(failure.reason)
    } finally {
      pending = undefined
    }
  }
  return async () => {
    if (pending === undefined && failure !== undefined && performance.now() < failure.until)
      throw new Error(failure.reason)
    pending ??= attempt()
    return pending
  }
}
