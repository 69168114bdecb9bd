import { isObject } from '../../framework/formats/values.ts'
import {
  type CelValue,
  Double,
  isList,
  isMap,
  itemsOf,
  ListView,
  MapView,
  ObjectView,
  Optional,
  StructValue,
  type TypeAdapter,
} from './value.ts'

/** JSON of any shape: what it is is found out when it is looked at. */
export const adaptDynamic: TypeAdapter = raw => {
  if (typeof raw === 'number') return Number.isInteger(raw) ? raw : new Double(raw)
  if (Array.isArray(raw)) return new ListView(raw, adaptDynamic, { type: 'atomic' })
  if (isObject(raw)) return new MapView(raw, adaptDynamic)
  return raw === undefined ? null : (raw as CelValue)
}

/** The JSON that a value is; undefined for what has none, such as types. */
export function toJson(value: CelValue): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (value instanceof Double) return value.value
  if (value instanceof ListView || value instanceof MapView || value instanceof ObjectView) return value.raw
  if (isList(value)) return [...itemsOf(value)].map(toJson)
  if (value instanceof StructValue)
    return Object.fromEntries([...value.fields].map(([name, field]) => [name, toJson(field)]))
  if (value instanceof Optional) return value.value === undefined ? null : toJson(value.value)
  return isMap(value)
    ? Object.fromEntries(value.keys().map(key => [String(key), toJson(value.get(key) ?? null)]))
    : undefined
}
