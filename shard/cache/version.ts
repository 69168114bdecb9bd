import { badRequest, type StatusError, timeout } from '../../framework/meta/errors.ts'

const largest = 2n ** 64n - 1n

/** A resourceVersion from a query; undefined for '' and absent. Throws 400 in Kubernetes' words (chapter 40, 4.11). */
export function parseVersion(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  if (!/^\d+$/.test(text)) throw invalidVersion(text, 'invalid syntax')
  if (BigInt(text) > largest) throw invalidVersion(text, 'value out of range')
  return Number(text)
}

const invalidVersion = (text: string, why: string): StatusError => {
  const quoted = JSON.stringify(text)
  return badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: ${why}`,
  )
}

/** A version from the future; clients know the cause (chapter 40, rule 4.8). */
export const versionTooLarge = (asked: number, current: number): StatusError =>
  timeout(`Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
