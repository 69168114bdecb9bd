/**
 * A JSON value as Go prints the decoded value with `%v`: `map[a:1 b:[x y]]`. Some messages of Kubernetes contain it.
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

/** The escape sequences of Go that name a character. */
export const goEscapes: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

/** A string as Go prints it with `%q`: unprintable characters are escaped. */
export const goQuoted = (text: string): string =>
  `"${text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, char => goEscapes[char] ?? escaped(char))}"`

function escaped(char: string): string {
  const code = char.codePointAt(0) ?? 0
  const hex = code.toString(16)
  if (code < 0x20 || code === 0x7f) return `\\x${hex.padStart(2, '0')}`
  return code < 0x1_0000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}

const goTypes: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'bool',
  bigint: 'int64',
}

/** The Go type of a decoded JSON value, as `%T` prints it: `map[string]interface {}`. */
export function goType(value: unknown): string {
  if (value === null || value === undefined) return '%!s(<nil>)'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return goTypes[typeof value] ?? 'map[string]interface {}'
}
