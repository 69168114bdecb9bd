// Tests that do not run have the reason in their titles, which reach scripts/reporter.cjs from every process of mocha.

const marked = (title: string, reason: string): string => `${title} (not run: ${reason})`

/**
 * Declares a test that does not run. `npm test` ends with the reason: the missing prerequisite, and the command that
 * would run the test.
 */
export const notRun = (title: string, reason: string): void => void it.skip(marked(title, reason))

/** Ends the current test, or in a hook all tests of its suite, without a result. */
export function skip(context: Mocha.Context, reason: string): never {
  const { test, currentTest } = context
  const isHook = test !== undefined && (test as { readonly type?: string }).type === 'hook'
  const skipped = isHook ? (currentTest ?? test.parent) : test
  if (skipped && !skipped.title.includes(reason)) skipped.title = marked(skipped.title, reason)
  return context.skip()
}

export const kcpDiffers = "kcp's answer differs from Kubernetes'"
