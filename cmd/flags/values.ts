import { isIP } from 'node:net'
import { InvalidArgumentError, Option } from 'commander'
import { parseAddressRules } from '../../framework/net/addresspolicy.ts'
import { parseDuration } from '../../framework/request/duration.ts'

/** A flag that `--help` lists first, among those that most users need. */
export const commonOption = (flags: string, description: string): Option =>
  new Option(flags, description).helpGroup('Options:')

/** A flag that may be repeated: a host name, an IP address or a network. */
export function networks(text: string, before: readonly string[] = []): readonly string[] {
  try {
    parseAddressRules([text])
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`)
  }
  return [...before, text]
}

/** A Go duration such as `5m` or `30s`, in milliseconds. */
export function duration(text: string): number {
  try {
    const milliseconds = parseDuration(text)
    if (milliseconds >= 0) return milliseconds
  } catch {
    // Reported below.
  }
  throw new InvalidArgumentError('Give a duration such as 5m or 30s.')
}

/** A duration that is not 0, in milliseconds. */
export function positiveDuration(text: string): number {
  const milliseconds = duration(text)
  if (milliseconds === 0) throw new InvalidArgumentError('Give a duration that is greater than 0.')
  return milliseconds
}

const longestInterval = 24 * 86_400_000

/** A duration for a timer of Node, whose longest one is 2^31 milliseconds: it fires at once after more. */
export function interval(text: string): number {
  const milliseconds = duration(text)
  if (milliseconds > longestInterval)
    throw new InvalidArgumentError('Give a duration of at most 24 days (576h).')
  return milliseconds
}

export function count(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give a whole number, 0 or more.')
  return Number(text)
}

export function positiveCount(text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) === 0)
    throw new InvalidArgumentError('Give a whole number, 1 or more.')
  return Number(text)
}

const units: Readonly<Record<string, number>> = { '': 1, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 }

/** A number of bytes such as `512Mi` or `2Gi`. */
export function bytes(text: string): number {
  const [, number, unit = ''] = /^(\d{1,9})(Ki|Mi|Gi|Ti)?$/.exec(text) ?? []
  if (number === undefined) throw new InvalidArgumentError('Give a number of bytes, such as 512Mi or 2Gi.')
  return Number(number) * (units[unit] ?? 1)
}

export function truth(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError('Give true or false.')
  return text === 'true'
}

/** Entries separated by commas; none for an empty text. */
export function textList(text: string): readonly string[] {
  const entries = text === '' ? [] : text.split(',')
  if (entries.includes('')) throw new InvalidArgumentError('Remove the empty entry.')
  refuseRepetition(entries)
  return entries
}

/** At least one entry, separated by commas and spaces. */
export function filledList(text: string): readonly string[] {
  const entries = textList(text.trim().replaceAll(/\s*,\s*/g, ','))
  if (entries.length === 0) throw new InvalidArgumentError('Give at least one entry, or remove the flag.')
  return entries
}

/** Throws an error for an entry that is given twice, because one of them is meant to be another one. */
export function refuseRepetition(entries: readonly string[]): void {
  const repeated = entries.find((entry, i) => entries.indexOf(entry) < i)
  if (repeated !== undefined) throw new InvalidArgumentError(`Remove the second ${JSON.stringify(repeated)}.`)
}

export function portNumber(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65535)
    throw new InvalidArgumentError('A port is a number from 0 to 65535.')
  return port
}

export function address(text: string): string {
  if (isIP(text) === 0)
    throw new InvalidArgumentError('An address is an IPv4 or IPv6 address, such as 127.0.0.1.')
  return text
}

const dnsName = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i

/** Whether a text is a host name or an IP address. */
export const isHost = (text: string): boolean => isIP(text) > 0 || dnsName.test(text)

/** A URL without a trailing slash. */
export function httpsUrl(text: string): string {
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  if (parsed?.protocol !== 'https:' || parsed.search !== '' || parsed.hash !== '' || parsed.username !== '')
    throw new InvalidArgumentError('Give an https URL without credentials, query and fragment.')
  return text.replace(/\/+$/, '')
}

export function hostname(text: string): string {
  if (!isHost(text))
    throw new InvalidArgumentError('A host name has no scheme, port or path: oriel.example.com.')
  return text
}
