import type { KubeObject } from '../meta/object.ts'
import { DecodeError } from '../wire/metadata.ts'
import { kindFields, type MessageField, type MessageFields, messageFields } from '../wire/protobuf/fields.ts'

type Members = Readonly<Record<string, unknown>>
type Layout = readonly (readonly [piece: string, pattern: RegExp])[]

const two = /\d\d/y
const date: Layout = [
  ['2006', /\d{4}/y],
  ['-', /-/y],
  ['01', two],
  ['-', /-/y],
  ['02', two],
  ['T', /T/y],
  ['15', two],
  [':', /:/y],
  ['04', two],
  [':', /:/y],
]
const zone: Layout = [['Z07:00', /Z|[+-]\d\d:\d\d/y]]
const layouts: Readonly<Record<string, Layout>> = {
  Time: [...date, ['05', /\d\d(?:[.,]\d+)?/y], ...zone],
  MicroTime: [...date, ['05', two], ['.000000', /\.\d{6}/y], ...zone],
}

/**
 * Times of built-in kinds in UTC, in seconds or microseconds, as Go writes them (rules.md 3.39). Throws a `DecodeError`
 * for other texts.
 */
export function withGoTimes(object: KubeObject, group: string, kind: string): KubeObject {
  const fields = kindFields(group, kind)
  return fields === undefined ? object : (inMessage(fields, object as unknown as Members) as never)
}

function inMessage(fields: MessageFields, value: Members): Members {
  const changed = timedFields(fields).flatMap(field => {
    const found = value[field.name]
    const read = Array.isArray(found) ? found.map(item => inField(field, item)) : inField(field, found)
    return found === undefined ? [] : [[field.name, read]]
  })
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) }
}

function inField({ type }: MessageField, value: unknown): unknown {
  const layout = layouts[type]
  if (layout !== undefined) return typeof value === 'string' ? inUtc(value, layout) : value
  const isMessage = typeof value === 'object' && value !== null
  return isMessage ? inMessage(messageFields(type) ?? new Map(), value as Members) : value
}

const timed = new WeakMap<MessageFields, readonly MessageField[]>()

/** The fields of a message that are times or contain times, except metadata, which has its own reader. */
function timedFields(fields: MessageFields): readonly MessageField[] {
  const known = timed.get(fields)
  if (known !== undefined) return known
  // A message may contain itself.
  timed.set(fields, [])
  const found = [...fields.values()].filter(({ type }) => type !== 'ObjectMeta' && isTimed(type))
  timed.set(fields, found)
  return found
}

function isTimed(type: string): boolean {
  if (layouts[type] !== undefined) return true
  const inner = messageFields(type)
  return inner !== undefined && timedFields(inner).length > 0
}

function inUtc(text: string, layout: Layout): string {
  const parts = partsOf(text, layout)
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = [
    '2006',
    '01',
    '02',
    '15',
    '04',
    '05',
  ].map(piece => Number.parseInt(parts.get(piece) ?? '', 10))
  const outside = rangeOf(
    [month - 1, 12],
    [day - 1, daysIn(year, month)],
    [hour, 24],
    [minute, 60],
    [second, 60],
  )
  if (outside !== undefined)
    throw new DecodeError(`parsing time ${JSON.stringify(text)}: ${outside} out of range`)
  const [, sign = '+', hours = 0, minutes = 0] = /([+-])(\d\d):(\d\d)/.exec(parts.get('Z07:00') ?? '') ?? []
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000)
  const time = new Date(Date.UTC(year, month - 1, day, hour, minute, second) - offset)
  return time.toISOString().replace(/\.\d+Z$/, `${parts.get('.000000') ?? ''}Z`)
}

const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate()

const units = ['month', 'day', 'hour', 'minute', 'second']
const rangeOf = (...values: readonly (readonly [value: number, end: number])[]): string | undefined =>
  units[values.findIndex(([value, end]) => value < 0 || value >= end)]

/** The part of a text for each piece of a layout. Throws Go's error where they differ. */
function partsOf(text: string, layout: Layout): ReadonlyMap<string, string> {
  const refuse = (why: string): DecodeError =>
    new DecodeError(
      `parsing time ${JSON.stringify(text)} as "${layout.map(([piece]) => piece).join('')}": cannot parse ${why}`,
    )
  const parts = new Map<string, string>()
  let at = 0
  for (const [piece, pattern] of layout) {
    pattern.lastIndex = at
    const [found] = pattern.exec(text) ?? []
    if (found === undefined) throw refuse(`${JSON.stringify(text.slice(at))} as "${piece}"`)
    parts.set(piece, found)
    at += found.length
  }
  if (at < text.length)
    throw new DecodeError(
      `parsing time ${JSON.stringify(text)}: extra text: ${JSON.stringify(text.slice(at))}`,
    )
  return parts
}
