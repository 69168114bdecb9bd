import { randomInt } from 'node:crypto'

/**
 * The name formats of `k8s.io/apimachinery/pkg/util/validation`. Each function returns the problems of a value in Kubernetes'
 * messages, none for a valid value. Lengths are bytes.
 */

interface Format {
  readonly text: string
  readonly pattern: string
  readonly examples: readonly string[]
}

const label: Format = {
  text: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  pattern: '[a-z0-9]([-a-z0-9]*[a-z0-9])?',
  examples: ['my-name', '123-abc'],
}
const subdomain: Format = {
  text: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  pattern: `${label.pattern}(\\.${label.pattern})*`,
  examples: ['example.com'],
}
const dns1035Label: Format = {
  text: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  pattern: '[a-z]([-a-z0-9]*[a-z0-9])?',
  examples: ['my-name', 'abc-123'],
}
const labelKey: Format = {
  text: "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  pattern: '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]',
  examples: ['MyName', 'my.name', '123-abc'],
}
const labelValue: Format = {
  text: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  pattern: `(${labelKey.pattern})?`,
  examples: ['MyValue', 'my_value', '12345'],
}

/** Two spaces before `or`, as in Kubernetes. */
const explain = ({ text, pattern, examples }: Format): string =>
  `${text} (e.g. ${examples.map(e => `'${e}', `).join(' or ')}regex used for validation is '${pattern}')`

/** Kubernetes always counts bytes, and writes `bytes` for labels only. */
const tooLong = (value: string, maxLength: number, unit: 'bytes' | 'characters'): readonly string[] =>
  Buffer.byteLength(value) > maxLength ? [`must be no more than ${maxLength} ${unit}`] : []

const matcher = ({ pattern }: Format): ((value: string) => boolean) => {
  const regex = new RegExp(`^(?:${pattern})$`)
  return value => regex.test(value)
}
const isLabel = matcher(label)
const isSubdomain = matcher(subdomain)
const isDns1035Label = matcher(dns1035Label)
const isLabelKey = matcher(labelKey)
const isLabelValue = matcher(labelValue)

/** `my-name`, at most 63 bytes: namespaces. */
export function dns1123LabelErrors(value: string): readonly string[] {
  const length = tooLong(value, 63, 'characters')
  if (isLabel(value)) return length
  return [...length, isSubdomain(value) ? 'must not contain dots' : explain(label)]
}

/** `example.com`, at most 253 bytes: the names of most objects, and API groups. */
export const dns1123SubdomainErrors = (value: string): readonly string[] => [
  ...tooLong(value, 253, 'characters'),
  ...(isSubdomain(value) ? [] : [explain(subdomain)]),
]

/** `my-name`, at most 63 bytes, without a leading digit: versions, plural and short names. */
export const dns1035LabelErrors = (value: string): readonly string[] => [
  ...tooLong(value, 63, 'characters'),
  ...(isDns1035Label(value) ? [] : [explain(dns1035Label)]),
]

/** Keys of labels and annotations, and finalizers: `name` or `example.com/name`. */
export function qualifiedNameErrors(value: string): readonly string[] {
  const parts = value.split('/')
  if (parts.length > 2)
    return [
      `a valid label key ${explain(labelKey)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  const name = parts.at(-1) ?? ''
  const prefix = parts.length === 2 ? parts[0] : undefined
  return [...prefixErrors(prefix), ...namePartErrors(name)]
}

function prefixErrors(prefix: string | undefined): readonly string[] {
  if (prefix === undefined) return []
  if (prefix === '') return ['prefix part must be non-empty']
  return dns1123SubdomainErrors(prefix).map(text => `prefix part ${text.replace(/characters$/, 'bytes')}`)
}

function namePartErrors(name: string): readonly string[] {
  const length = name === '' ? ['must be non-empty'] : tooLong(name, 63, 'bytes')
  const all = isLabelKey(name) ? length : [...length, explain(labelKey)]
  return all.map(text => `name part ${text}`)
}

export const labelValueErrors = (value: string): readonly string[] => [
  ...tooLong(value, 63, 'bytes'),
  ...(isLabelValue(value) ? [] : [explain(labelValue)]),
]

/** Bytes of a name: less than a key of the store has room for. Longer names fit no URL of a request either. */
const longestName = 1_024

/** A control character of ASCII. */
const control = /[^ -~\u0080-\uffff]/

/**
 * Names of RBAC objects (`path.IsValidPathSegmentName`): they fit one segment of a URL. Empty names are valid. Unlike
 * Kubernetes, refuses control characters, text that is not Unicode and more than 1,024 bytes, which keys of a store cannot have.
 */
export function pathSegmentErrors(value: string): readonly string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`]
  const contained = ['/', '%'].filter(c => value.includes(c)).map(c => `may not contain '${c}'`)
  const isText = !control.test(value) && Buffer.from(value).toString() === value
  return [
    ...contained,
    ...(isText ? [] : ['may not contain control characters or invalid Unicode']),
    ...tooLong(value, longestName, 'bytes'),
  ]
}

/** The problems of the `name` or `generateName` of an object: `ValidateNameFunc` of `k8s.io/apimachinery/pkg/api/validation`. */
export type NameErrors = (name: string, field: 'name' | 'generateName') => readonly string[]

/** Replaces the last dash of a `generateName`: `maskTrailingDash` (rules.md 3.6). */
const masked =
  (check: (name: string) => readonly string[]): NameErrors =>
  (name, field) =>
    check(field === 'generateName' && name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name)

/** `NameIsDNSSubdomain`. */
export const subdomainNameErrors = masked(dns1123SubdomainErrors)
/** `NameIsDNSLabel`. */
export const labelNameErrors = masked(dns1123LabelErrors)
/** `path.ValidatePathSegmentName`. */
export const pathSegmentNameErrors: NameErrors = (name, field) =>
  field === 'generateName' && (name === '.' || name === '..') ? [] : pathSegmentErrors(name)

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'
const longestBase = 58

/** A name from `generateName`: at most 58 bytes of it, then five random characters (rules.md 3.4). */
export function generatedName(base: string): string {
  const suffix = Array.from({ length: 5 }, () => suffixAlphabet.charAt(randomInt(suffixAlphabet.length)))
  return base.slice(0, longestBase) + suffix.join('')
}
