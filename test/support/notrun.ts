// Tests that do not run have the reason in their titles, which reach scripts/reporter.cjs from every process of mocha.

const marked = (title: string, reason: string): string => `${title} (not run: ${reason})`

/**
 * Declares a test that does not run. `npm test` ends with the reason: the missing prerequisite, and the command that
 * would run the test.
 */
export const notRun = (title: string, reason: string): void => void it.skip(marked(title, reason))

/** Ends the current test, or in a `before` hook all tests of its suite, without a result. */
export function skip(context: Mocha.Context, reason: string): never {
  const { test, currentTest } = context
  // In a `before` hook mocha gives the first test as the current one.
  const ofSuite = test?.title.startsWith('"before all"') ?? false
  const skipped = ofSuite ? test?.parent : (currentTest ?? test)
  if (skipped && !skipped.title.includes(reason)) skipped.title = marked(skipped.title, reason)
  return context.skip()
}

/** For tests of servers that start again with what they had: `npm run test:stores` also runs them in memory. */
export function needsLastingStore(context: Mocha.Context): void {
  if (process.env.TEST_STORE === 'memory:') skip(context, 'a store in memory is empty after a start')
}

/** For tests of the file of the embedded store: `npm run test:stores` also runs them on other stores. */
export function needsStoreFile(context: Mocha.Context): void {
  const { TEST_ETCD, TEST_STORE } = process.env
  if ((TEST_ETCD ?? TEST_STORE) !== undefined) skip(context, 'the objects are not in a file')
}

/** For tests that pause a server: `npm run test:stores` also runs three processes on one port, of which one would be paused. */
export function needsOneProcess(context: Mocha.Context): void {
  if (process.env.TEST_REPLICAS !== undefined) skip(context, 'the server has several processes')
}

export const kcpDiffers = "kcp's answer differs from Kubernetes'"
