type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The path of the first field in which two values differ; undefined for equal values. Empty objects are as absent ones. */
export function firstDifference(a: unknown, b: unknown, at = ''): string | undefined {
  if (isEmpty(a) && isEmpty(b)) return undefined
  const [left, right] = [isEmpty(a) ? {} : a, isEmpty(b) ? {} : b]
  if (!isFields(left) || !isFields(right)) return sameValue(left, right) ? undefined : at
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const found = firstDifference(memberOf(left, key), memberOf(right, key), pathTo(at, key))
    if (found !== undefined) return found
  }
  return undefined
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (isFields(value) && Object.values(value).every(isEmpty))

/** An own member of an object; undefined for other values. */
export const memberOf = (value: unknown, key: string): unknown =>
  isFields(value) && Object.hasOwn(value, key) ? value[key] : undefined

const pathTo = (at: string, key: string): string =>
  at === '' ? key : /[.[\]/]/.test(key) ? `${at}[${key}]` : `${at}.${key}`

/** Deep equality of JSON. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => sameValue(item, b[i]))
  if (!isFields(a) || !isFields(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every(key => Object.hasOwn(b, key) && sameValue(a[key], b[key]))
  )
}
