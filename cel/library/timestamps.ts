import { LRUCache } from 'lru-cache'
import { spend } from '../values/costtracker.ts'
import { declare, type FunctionDecl, type FunctionOp, member, type Overload } from '../values/declaration.ts'
import { durationType, intType, stringType, timestampType } from '../values/type.ts'
import { type CelDuration, CelError, type CelTimestamp, type CelValue } from '../values/value.ts'

/** The local date and time in a time zone, as if it were UTC; an error for an unknown time zone. */
function inZone(timestamp: CelTimestamp, zone: CelValue | undefined): Date | CelError {
  const utc = new Date(timestamp.seconds * 1000)
  if (zone === undefined) return utc
  const seconds = String(zone).includes(':') ? offsetSeconds(String(zone)) : zoneSeconds(utc, String(zone))
  return typeof seconds === 'number' ? new Date(utc.getTime() + seconds * 1000) : seconds
}

/** `+02:30` */
function offsetSeconds(zone: string): number | CelError {
  const [, hours = '', minutes = ''] = /^([^:]*):(.*)$/s.exec(zone) ?? []
  for (const text of [hours, minutes])
    if (!/^[+-]?\d+$/.test(text)) return new CelError(`strconv.Atoi: parsing "${text}": invalid syntax`)
  const total = Number(hours) * 60 + (zone.startsWith('-') ? -1 : 1) * Number(minutes)
  return total * 60
}

/** Creating a formatter is slow. */
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: 100 })

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known =
    formatters.get(zone) ?? new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  formatters.set(zone, known)
  return known
}

/** The offset of a zone such as `America/New_York` at that time. */
function zoneSeconds(utc: Date, zone: string): number | CelError {
  if (zone === '' || zone === 'UTC') return 0
  try {
    const name =
      formatterOf(zone)
        .formatToParts(utc)
        .find(({ type }) => type === 'timeZoneName')?.value ?? ''
    const offset = /([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(name)
    if (offset === null) return 0
    const [, sign, hours, minutes, seconds = 0] = offset
    return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds))
  } catch {
    return new CelError(`unknown time zone ${zone}`)
  }
}

const part =
  (read: (date: Date, timestamp: CelTimestamp) => number): FunctionOp =>
  ([timestamp, zone], tracker) => {
    if (zone !== undefined) spend(tracker, 500)
    const date = inZone(timestamp as CelTimestamp, zone)
    return date instanceof CelError ? date : read(date, timestamp as CelTimestamp)
  }

const dayOfYear = (date: Date): number => {
  const start = new Date(0)
  start.setUTCFullYear(date.getUTCFullYear(), 0, 1)
  return Math.floor((date.getTime() - start.getTime()) / 86_400_000)
}

/** A part of a timestamp, in UTC or in a zone. */
const ofTimestamp = (
  id: string,
  read: (date: Date, timestamp: CelTimestamp) => number,
): readonly Overload[] => [
  member(`timestamp_to_${id}`, [timestampType], intType, part(read)),
  member(`timestamp_to_${id}_with_tz`, [timestampType, stringType], intType, part(read)),
]

/** A duration in whole units of `unit` nanoseconds. */
const ofDuration = (id: string, unit: bigint): Overload =>
  member(`duration_to_${id}`, [durationType], intType, ([duration]) =>
    Number((duration as CelDuration).nanos / unit),
  )

export const timestamps: readonly FunctionDecl[] = [
  declare('getFullYear', ...ofTimestamp('year', date => date.getUTCFullYear())),
  declare('getMonth', ...ofTimestamp('month', date => date.getUTCMonth())),
  declare('getDayOfYear', ...ofTimestamp('day_of_year', dayOfYear)),
  declare('getDayOfMonth', ...ofTimestamp('day_of_month', date => date.getUTCDate() - 1)),
  declare('getDate', ...ofTimestamp('day_of_month_1_based', date => date.getUTCDate())),
  declare('getDayOfWeek', ...ofTimestamp('day_of_week', date => date.getUTCDay())),
  declare(
    'getHours',
    ...ofTimestamp('hours', date => date.getUTCHours()),
    ofDuration('hours', 3_600_000_000_000n),
  ),
  declare(
    'getMinutes',
    ...ofTimestamp('minutes', date => date.getUTCMinutes()),
    ofDuration('minutes', 60_000_000_000n),
  ),
  declare(
    'getSeconds',
    ...ofTimestamp('seconds', date => date.getUTCSeconds()),
    ofDuration('seconds', 1_000_000_000n),
  ),
  declare(
    'getMilliseconds',
    ...ofTimestamp('milliseconds', (_date, { nanos }) => Math.floor(nanos / 1_000_000)),
    ofDuration('milliseconds', 1_000_000n),
  ),
]
