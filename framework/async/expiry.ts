import { X509Certificate } from 'node:crypto'

/** Node's timers count no further: some 24 days. */
const longest = 2 ** 31 - 1

/** When the first certificate of a PEM file ends, in milliseconds since the epoch. Throws on what is none. */
export const expiryOf = (pem: string): number => Date.parse(new X509Certificate(pem).validTo)

/** Calls when this time has come, in milliseconds since the epoch. Keeps no process alive. */
export function whenPassed(time: number, passed: () => void): void {
  const left = time - Date.now()
  if (left <= 0) passed()
  else setTimeout(() => whenPassed(time, passed), Math.min(left, longest)).unref()
}
