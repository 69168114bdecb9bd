import { append, isObject, memberOf } from '../../framework/formats/values.ts'
import { canonicalJson } from '../../framework/json/json.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { duplicate, invalidValue } from '../../framework/meta/fielderror.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import type { StructureCheck } from './structure.ts'

/** Lists of type set have no equal items, lists of type map no items with equal keys. */
export function uniquenessCheck(schema: JSONSchemaProps): StructureCheck | undefined {
  const type = schema['x-kubernetes-list-type']
  if (type === 'set') return (value, path, errors) => append(errors, checkSet(value, path))
  if (type !== 'map') return undefined
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  return (value, path, errors) => append(errors, checkMap(value, path, keys))
}

/** Each repeated value is reported once, where it is met for the second time. */
function repetitions(values: readonly unknown[], path: string): readonly FieldError[] {
  const counts = new Map<string, number>()
  return values.flatMap((value, i) => {
    const text = canonicalJson(value)
    const count = (counts.get(text) ?? 0) + 1
    counts.set(text, count)
    return count === 2 ? [duplicate(`${path}[${i}]`, value)] : []
  })
}

const checkSet = (value: unknown, path: string): readonly FieldError[] =>
  Array.isArray(value) && value.length > 1 ? repetitions(value, path) : []

function checkMap(value: unknown, path: string, keys: readonly string[]): readonly FieldError[] {
  if (!Array.isArray(value)) return []
  const stranger = value.findIndex(item => item !== null && !isObject(item))
  if (stranger >= 0)
    return [
      invalidValue(
        `${path}[${stranger}]`,
        value[stranger],
        'must be an object for an array of list-type map',
      ),
    ]
  if (value.length <= 1) return []
  return repetitions(
    value.map(item => keysOf(item, keys)),
    path,
  )
}

/** The keys that an item has, sorted as Go prints maps. */
const keysOf = (item: unknown, keys: readonly string[]): unknown =>
  Object.fromEntries(
    [...keys]
      .sort()
      .map(key => [key, memberOf(item, key)])
      .filter(([, value]) => value !== undefined),
  )
