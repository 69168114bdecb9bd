import { X509Certificate } from 'node:crypto'

/** The maximum delay of timers in Node: about 24 days. */
const longest = 2 ** 31 - 1

/**
 * The end of validity of the first certificate of a PEM file, in milliseconds since the epoch. Throws if there is no
 * certificate.
 */
export const expiryOf = (pem: string): number => Date.parse(new X509Certificate(pem).validTo)

/** Calls `passed` at `time`, in milliseconds since the epoch. The timer does not keep the process running. */
export function whenPassed(time: number, passed: () => void): void {
  const left = time - Date.now()
  if (left <= 0) passed()
  else setTimeout(() => whenPassed(time, passed), Math.min(left, longest)).unref()
}
