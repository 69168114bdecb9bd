import { badRequest } from '../meta/errors.ts'

const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}
const whole = /^[+-]?(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))*$/

/** Milliseconds of a Go duration such as `1m30s`. Throws an `Error` with the text of Go's `time.ParseDuration`. */
export function parseDuration(text: string): number {
  if (text === '0' || text === '+0' || text === '-0') return 0
  if (!whole.test(text)) {
    const problem = /^[+-]?(\d+\.?\d*|\.\d+)$/.test(text) ? 'missing unit in' : 'invalid'
    throw new Error(`time: ${problem} duration ${JSON.stringify(text)}`)
  }
  const parts = text.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)
  const sum = [...parts].reduce(
    (total, [, value, unit]) => total + Number(value) * (units[unit ?? ''] ?? 0),
    0,
  )
  return text.startsWith('-') ? -sum : sum
}

/** Milliseconds of the query parameter `timeout`; 0 without one. Throws a `StatusError` for another text. */
export function timeoutIn(query: URLSearchParams): number {
  try {
    return parseDuration(query.get('timeout') || '0')
  } catch (error) {
    throw badRequest(`invalid timeout specified in the request URL - ${(error as Error).message}`)
  }
}
