import { isIPv6 } from 'node:net'
import { dns1123LabelErrors, dns1123SubdomainErrors } from '../meta/names.ts'

type Check = (text: string) => boolean

const matches =
  (pattern: RegExp): Check =>
  text =>
    pattern.test(text)

/** Maximum length of names, addresses, numbers and times; it limits the cost of the patterns. */
const longest = 1024
const short =
  (check: Check): Check =>
  text =>
    text.length <= longest && check(text)

/** 0 to 255; leading zeros are decimal, as in `netutils.ParseIPSloppy`. */
const ipv4Pattern = /^(?:0*(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/
const isPlainIPv4 = matches(ipv4Pattern)
const isPlainIPv6: Check = text => !text.includes('%') && isIPv6(text)
const isIPv4: Check = text => isPlainIPv4(text) || (text.includes('.') && isPlainIPv6(text))

const isCidr: Check = text => {
  const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? []
  if (bits === '') return false
  return isPlainIPv4(address) ? Number(bits) <= 32 : isPlainIPv6(address) && Number(bits) <= 128
}

/** 6, 8 or 20 bytes: `01:23:45:67:89:ab`, `01-23-…` or `0123.4567.89ab`. */
const isMac: Check = text => {
  const bytes = /^[0-9a-f]{2}(?:(?:[:][0-9a-f]{2})+|(?:-[0-9a-f]{2})+)$/i.test(text)
  const words = /^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$/i.test(text)
  const digits = text.replace(/[:.-]/g, '').length
  return (bytes || words) && [12, 16, 40].includes(digits)
}

const host =
  /^(?:\[[0-9a-fA-F:.]+(?:%25[^\]]*)?\]|(?:[\w\-.~!$&'()*+,;=<>"]|[^\0-\x7f]|%[89a-fA-F][0-9a-fA-F])*)(?::\d*)?$/
const userInfo = /^(?:[\w\-.~!$&'()*+,;=:%@])*$/
const escapes = /^(?:[^%]|%[0-9a-fA-F]{2})*$/

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@')
  return userInfo.test(authority.slice(0, Math.max(at, 0))) && host.test(authority.slice(at + 1))
}

/** An absolute URI or an absolute path: `url.ParseRequestURI`. */
const isRequestUri: Check = text => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (text === '' || /[\0-\x1f\x7f]/.test(text)) return false
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(text)?.[0] ?? ''
  const rest = text.slice(scheme.length).replace(/\?.*$/s, '')
  if (!rest.startsWith('/')) return scheme !== '' || text === '*'
  if (scheme === '' || !rest.startsWith('//')) return escapes.test(rest)
  const end = rest.indexOf('/', 2)
  const [authority, path] = end < 0 ? [rest.slice(2), ''] : [rest.slice(2, end), rest.slice(end)]
  return isAuthority(authority) && escapes.test(path)
}

const atom = "[\\w!#$%&'*+/=?^`{|}~\\u0080-\\u{10ffff}-]+"
const quoted = '"(?:[^"\\\\]|\\\\.)*"'
const address = `(?:${atom}(?:\\.${atom})*|${quoted})@(?:${atom}(?:\\.${atom})*|\\[[^\\[\\]\\\\]*\\])`
const phrase = `(?:[\\s.]|${atom.slice(0, -1)}|${quoted})*`
const emailPattern = new RegExp(`^(?:\\s*${address}|${phrase}<${address}>)\\s*$`, 'u')

const hostnamePattern =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[-a-zA-Z0-9\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u
const isHostname: Check = text =>
  Buffer.byteLength(text) <= 255 &&
  hostnamePattern.test(text) &&
  text.split('.').every(part => Buffer.byteLength(part) <= 63)

const digitsOf = (text: string): readonly number[] => [...text].map(c => (c === 'X' ? 10 : Number(c)))

const isIsbn10: Check = text => {
  const plain = text.replace(/[\s-]/g, '')
  if (!/^(?:\d{9}X|\d{10})$/.test(plain)) return false
  return digitsOf(plain).reduce((sum, digit, i) => sum + digit * (i + 1), 0) % 11 === 0
}
const isIsbn13: Check = text => {
  const plain = text.replace(/[\s-]/g, '')
  if (!/^\d{13}$/.test(plain)) return false
  return digitsOf(plain).reduce((sum, digit, i) => sum + digit * (i % 2 === 0 ? 1 : 3), 0) % 10 === 0
}

const cardPattern =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/
/** With the check digit of Luhn. */
const isCreditCard: Check = text => {
  const plain = text.replace(/\D/g, '')
  if (!cardPattern.test(plain)) return false
  const doubled = (digit: number): number => (digit > 4 ? digit * 2 - 9 : digit * 2)
  const weighed = [...digitsOf(plain)].reverse().map((digit, i) => (i % 2 === 0 ? digit : doubled(digit)))
  return weighed.reduce((sum, digit) => sum + digit, 0) % 10 === 0
}

const color = '\\s*(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*'
const rgbPattern = new RegExp(`^rgb\\(${color},${color},${color}\\)$`)

/**
 * The empty string is valid: built-in kinds have it (an empty key of a Secret), although CRDs of Kubernetes reject it.
 */
const isBase64: Check = text => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)

const isDate: Check = text => {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? []
  if (day === undefined) return false
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}

const timePattern = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:.\d+)?(?:z|[+-]\d\d:\d\d)$/
const isDateTime: Check = text => {
  const [date = '', time = ''] = text.toLowerCase().split('t')
  return isDate(date) && timePattern.test(time)
}

const goDuration = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/
/** The format of Scala, `22 nanos`: the last words may be the beginning of a longer word. */
const units = /\d\s*(?:(?:ns|us|µs|ms|s|m|h|hr|d|w|wk)(?![a-zµ])|nano|micro|milli|sec|min|hour|day|week)/i
const isDuration: Check = text => goDuration.test(text) || units.test(text)

const uuid = (version: string, variant: string): Check =>
  matches(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`, 'i'))

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['bsonobjectid', matches(/^[0-9a-f]{24}$/i)],
  ['uri', isRequestUri],
  ['email', short(matches(emailPattern))],
  ['hostname', short(isHostname)],
  ['ipv4', short(isIPv4)],
  ['ipv6', short(isPlainIPv6)],
  ['cidr', short(isCidr)],
  ['mac', short(isMac)],
  ['uuid', uuid('[0-9a-f]{4}', '[0-9a-f]')],
  ['uuid3', uuid('3[0-9a-f]{3}', '[0-9a-f]')],
  ['uuid4', uuid('4[0-9a-f]{3}', '[89ab]')],
  ['uuid5', uuid('5[0-9a-f]{3}', '[89ab]')],
  ['isbn', short(text => isIsbn10(text) || isIsbn13(text))],
  ['isbn10', short(isIsbn10)],
  ['isbn13', short(isIsbn13)],
  ['creditcard', short(isCreditCard)],
  ['ssn', short(matches(/^\d{3}[- ]\d{2}[- ]\d{4}$/))],
  ['hexcolor', matches(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i)],
  ['rgbcolor', short(matches(rgbPattern))],
  ['byte', isBase64],
  ['password', () => true],
  ['date', isDate],
  ['duration', short(isDuration)],
  ['datetime', short(isDateTime)],
  ['k8sshortname', text => dns1123LabelErrors(text).length === 0],
  ['k8slongname', text => dns1123SubdomainErrors(text).length === 0],
])

/**
 * The check of a string format (`kube-openapi/pkg/validation/strfmt`; rules.md 7.24); undefined for formats without a
 * check. Dashes are ignored.
 */
export const formatCheck = (format: string): Check | undefined => checks.get(format.replaceAll('-', ''))

/** The error of `url.ParseRequestURI`; undefined for a valid absolute URI or path. */
export function requestUriError(text: string): string | undefined {
  if (formatCheck('uri')?.(text) === true) return undefined
  return `parse ${JSON.stringify(text)}: ${reason(text)}`
}

function reason(text: string): string {
  if (text === '') return 'empty url'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\0-\x1f\x7f]/.test(text)) return 'net/url: invalid control character in URL'
  if (text.startsWith(':')) return 'missing protocol scheme'
  const wrong = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(text)?.[0]
  if (wrong !== undefined) return `invalid URL escape ${JSON.stringify(wrong)}`
  const port = /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#]*?(:[^\d/?#\]][^/?#\]]*)(?:[/?#]|$)/.exec(text)?.[1]
  if (port !== undefined) return `invalid port ${JSON.stringify(port)} after host`
  return 'invalid URI for request'
}
