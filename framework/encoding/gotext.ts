/**
 * A JSON value as Go's `%v` prints the decoded one: `map[a:1 b:[x y]]`. Some of Kubernetes' messages contain it.
 */
export function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (typeof value !== 'object') return String(value)
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${key}:${goText(member)}`)
  return `map[${members.join(' ')}]`
}

const goTypes: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'bool',
  bigint: 'int64',
}

/** The Go type of a decoded JSON value: `map[string]interface {}`. */
export function goType(value: unknown): string {
  if (value === null || value === undefined) return '%!s(<nil>)'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return goTypes[typeof value] ?? 'map[string]interface {}'
}
