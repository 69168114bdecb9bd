import { isIPv6 } from 'node:net'

/** An IP address: 4 or 16 bytes. */
export type Address = Uint8Array

/** Parses an IP address; returns the error of `netip.ParseAddr` for an invalid one. */
export function parseAddress(text: string): Address | string {
  const fail = (why: string): string => `ParseAddr(${JSON.stringify(text)}): ${why}`
  for (const char of text) {
    if (char === '.') {
      const parsed = parseIPv4(text)
      return typeof parsed === 'string' ? fail(parsed) : parsed
    }
    if (char === ':') break
    if (char === '%') return fail('missing IPv6 address')
  }
  if (!text.includes(':')) return fail('unable to parse IP')
  const zoneless = text.replace(/%.*$/s, '')
  return isIPv6(zoneless) ? parseIPv6(zoneless) : fail('unable to parse IP')
}

/** The bytes of a valid address. Throws an `Error` for other texts. */
export function addressBytes(text: string): Address {
  const address = parseAddress(text)
  if (typeof address === 'string') throw new Error(address)
  return address
}

function parseIPv4(text: string): Address | string {
  const parts = text.split('.')
  for (const [i, part] of parts.entries()) {
    const invalid = /[^\d]/.exec(part)
    if (invalid !== null) {
      const at = [part.slice(invalid.index), ...parts.slice(i + 1)].join('.')
      return `unexpected character (at ${JSON.stringify(at)})`
    }
    if (part === '')
      return `IPv4 field must have at least one digit (at ${JSON.stringify(`.${parts.slice(i + 1).join('.')}`)})`
    if (part.length > 1 && part.startsWith('0')) return 'IPv4 field has octet with leading zero'
    if (Number(part) > 255) return 'IPv4 field has value >255'
    if (i > 3) return 'IPv4 address too long'
  }
  return parts.length < 4 ? 'IPv4 address too short' : Uint8Array.from(parts.map(Number))
}

function parseIPv6(text: string): Address {
  const plain = text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, ...bytes) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number)
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  })
  const [head = '', tail] = plain.split('::')
  const groups = (part: string | undefined): number[] =>
    part === undefined || part === '' ? [] : part.split(':').map(group => Number.parseInt(group, 16))
  const [first, last] = [groups(head), groups(tail)]
  const zeros = new Array<number>(8 - first.length - last.length).fill(0)
  const all = tail === undefined ? first : [...first, ...zeros, ...last]
  return Uint8Array.from(all.flatMap(group => [group >> 8, group & 255]))
}

/** The canonical text of an address: lower case, with `::` for the longest run of zeros. */
export function addressText(address: Address): string {
  if (address.length === 4) return address.join('.')
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((address[2 * i] ?? 0) << 8) | (address[2 * i + 1] ?? 0)).toString(16),
  )
  const text = groups.join(':')
  const runs = [...text.matchAll(/(?<![^:])0(?::0)+(?![^:])/g)]
  const longest = runs.reduce<RegExpExecArray | undefined>(
    (best, run) => (best === undefined || run[0].length > best[0].length ? run : best),
    undefined,
  )
  if (longest === undefined) return text
  const before = text.slice(0, longest.index).replace(/:$/, '')
  const after = text.slice(longest.index + longest[0].length).replace(/^:/, '')
  return `${before}::${after}`
}

/** Whether the address is an IPv4-mapped IPv6 address: `::ffff:1.2.3.4`. */
export const isMapped = (address: Address): boolean =>
  address.length === 16 &&
  address.subarray(0, 10).every(byte => byte === 0) &&
  address[10] === 255 &&
  address[11] === 255

/** The address with the bits after the first `bits` set to zero. */
export const masked = (address: Address, bits: number): Address =>
  address.map((byte, i) => {
    const kept = Math.max(0, Math.min(8, bits - 8 * i))
    return byte & (0xff00 >> kept) & 0xff
  })

const isIn = (address: Address, prefix: readonly number[], bits: number): boolean => {
  const kept = masked(address, bits)
  return prefix.every((byte, i) => kept[i] === byte)
}

export const isUnspecified = (address: Address): boolean => address.every(byte => byte === 0)

export const isLoopback = (address: Address): boolean =>
  address.length === 4 ? address[0] === 127 : address.every((byte, i) => byte === (i === 15 ? 1 : 0))

export const isLinkLocalUnicast = (address: Address): boolean =>
  address.length === 4 ? isIn(address, [169, 254], 16) : isIn(address, [0xfe, 0x80], 10)

export const isLinkLocalMulticast = (address: Address): boolean =>
  address.length === 4
    ? isIn(address, [224, 0, 0], 24)
    : address[0] === 0xff && ((address[1] ?? 0) & 15) === 2

const isMulticast = (address: Address): boolean =>
  address.length === 4 ? isIn(address, [224], 4) : address[0] === 0xff

export const isGlobalUnicast = (address: Address): boolean =>
  !isUnspecified(address) &&
  !isLoopback(address) &&
  !isMulticast(address) &&
  !isLinkLocalUnicast(address) &&
  !(address.length === 4 && address.every(byte => byte === 255))
