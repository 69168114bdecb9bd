import { durationText, timestampText } from '../values/time.ts'
import {
  CelDuration,
  CelError,
  CelTimestamp,
  type CelValue,
  Double,
  isList,
  isMap,
  itemsOf,
  Optional,
  TypeValue,
  Uint,
} from '../values/value.ts'

/** A value as text, as cel-go shows it: `[1, 2.0, "a"]`; an error as `error: …`. */
export function show(value: CelValue): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object') return String(value)
  if (value instanceof CelError) return `error: ${value.message}`
  if (value instanceof Double) return Number.isInteger(value.value) ? `${value.value}.0` : String(value.value)
  if (value instanceof Uint) return `${value.value}u`
  if (value instanceof TypeValue) return value.name
  if (value instanceof CelTimestamp) return `timestamp("${timestampText(value)}")`
  if (value instanceof CelDuration) return `duration("${durationText(value)}")`
  if (value instanceof Optional)
    return value.value === undefined ? 'optional.none()' : `optional.of(${show(value.value)})`
  if (isList(value)) return `[${[...itemsOf(value)].map(show).join(', ')}]`
  if (!isMap(value)) return value.constructor.name
  return `{${value
    .keys()
    .map(key => `${show(key)}: ${show(value.get(key) ?? null)}`)
    .join(', ')}}`
}
