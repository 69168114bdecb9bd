import { inInt64 } from './int.ts'
import { CelDuration, CelTimestamp } from './value.ts'

const unitNanos: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}

/** Parses a Go duration: `1h30m`, `-1.5s`; undefined if invalid, or above 64 bits of nanoseconds. */
export function parseDuration(text: string): CelDuration | undefined {
  const [, sign = '', body = ''] = /^([+-]?)(.*)$/s.exec(text) ?? []
  if (body === '0') return new CelDuration(0n)
  if (body.length > 1000 || !/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return undefined
  let nanos = 0n
  for (const [, whole = '', fraction = '', unit = ''] of body.matchAll(/(\d*)\.?(\d*)([a-zµμ]+)/g)) {
    const scale = unitNanos[unit] ?? 0n
    nanos += BigInt(whole || '0') * scale
    nanos += (BigInt(fraction || '0') * scale) / 10n ** BigInt(fraction.length)
  }
  const signed = sign === '-' ? -nanos : nanos
  return inInt64(signed) ? new CelDuration(signed) : undefined
}

/** A duration in decimal seconds: `5400s`, `0.25s`. */
export const durationText = ({ nanos }: CelDuration): string => `${Number(nanos) / 1e9}s`

/** The first second of the year 1 and the last of the year 9999. */
export const minSeconds = -62_135_596_800
export const maxSeconds = 253_402_300_799

const pattern = /^(\d{4})-(\d\d)-(\d\d)[T](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/

/** Parses a time of RFC 3339; undefined if invalid. */
export function parseTimestamp(text: string): CelTimestamp | undefined {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [, , , , hour, minute, second, fraction = '', zone = ''] = match
  const days = dateSeconds(match)
  if (days === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const offset = zoneSeconds(zone)
  if (offset === undefined) return undefined
  const seconds = days + Number(hour) * 3600 + Number(minute) * 60 + Number(second) - offset
  return new CelTimestamp(seconds, Number(fraction.slice(0, 9).padEnd(9, '0')), offset)
}

function dateSeconds([, year, month, day]: RegExpExecArray): number | undefined {
  const date = new Date(0)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  const isReal = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
  return isReal ? date.getTime() / 1000 : undefined
}

function zoneSeconds(zone: string): number | undefined {
  if (zone === 'Z') return 0
  const [hours = 0, minutes = 0] = zone.slice(1).split(':').map(Number)
  if (hours > 23 || minutes > 59) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60)
}

export const isTimestamp = ({ seconds }: CelTimestamp): boolean =>
  seconds >= minSeconds && seconds <= maxSeconds

/** RFC 3339 with as many decimals as needed, in the original time zone. */
export function timestampText({ seconds, nanos, offset }: CelTimestamp): string {
  const date = new Date((seconds + offset) * 1000).toISOString().slice(0, 19)
  const fraction = nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`
  return `${date}${fraction}${zoneText(offset)}`
}

function zoneText(offset: number): string {
  if (offset === 0) return 'Z'
  const minutes = Math.abs(offset) / 60
  const two = (count: number): string => String(Math.floor(count)).padStart(2, '0')
  return `${offset < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`
}

const billion = 1_000_000_000n

export const timestampNanos = ({ seconds, nanos }: CelTimestamp): bigint =>
  BigInt(seconds) * billion + BigInt(nanos)

export function timestampOfNanos(total: bigint): CelTimestamp {
  const nanos = ((total % billion) + billion) % billion
  return new CelTimestamp(Number((total - nanos) / billion), Number(nanos))
}
