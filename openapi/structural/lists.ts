import type { Steps } from '../../framework/json/json.ts'
import type { FieldError } from '../../framework/meta/errors.ts'
import { type ErrorSteps, itemErrors } from '../../framework/meta/errorsteps.ts'
import {
  forbidden,
  invalidValue,
  repetitions,
  required,
  unsupported,
} from '../../framework/meta/fielderror.ts'
import { itemsOf, key, type RawSchema, type SchemaWalk } from './schema.ts'

const listType = 'x-kubernetes-list-type'
const mapType = 'x-kubernetes-map-type'
const mapKeys = 'x-kubernetes-list-map-keys'

/** Validates list types, list map keys and map types (rules.md 7.15). */
export function* checkLists(schema: RawSchema, path: string, walk: SchemaWalk): Steps {
  walk.add(topologyErrors(schema, path, [mapType, 'object', ['atomic', 'granular']]))
  walk.add(topologyErrors(schema, path, [listType, 'array', ['atomic', 'set', 'map']]))
  walk.add(setErrors(schema, path))
  walk.add(keysErrors(schema, path))
  if (schema[listType] === 'map') walk.add(yield* mapErrors(schema, path))
}

type Topology = readonly [keyword: typeof mapType | typeof listType, type: string, values: readonly string[]]

function topologyErrors(
  schema: RawSchema,
  path: string,
  [keyword, type, values]: Topology,
): readonly FieldError[] {
  const value = schema[keyword]
  if (value === undefined) return []
  const text = `must be ${type} if ${keyword} is specified`
  const actual = schema.type ?? ''
  return [
    ...(actual === ''
      ? [required(`${path}.type`, text)]
      : actual === type
        ? []
        : [invalidValue(`${path}.type`, actual, text)]),
    ...(values.includes(value) ? [] : [unsupported(`${path}.${keyword}`, value, values)]),
  ]
}

/** Items of sets must be atomic, and items of sets and maps must not be nullable. */
function setErrors(schema: RawSchema, path: string): readonly FieldError[] {
  const type = schema[listType]
  const items = itemsOf(schema)
  if ((type !== 'set' && type !== 'map') || items === undefined) return []
  const at = `${path}.items`
  const nullable =
    items.nullable === true
      ? [forbidden(`${at}.nullable`, `cannot be nullable when x-kubernetes-list-type is ${type}`)]
      : []
  return type === 'set' && schema.type === 'array' ? [...atomicErrors(items, at), ...nullable] : nullable
}

function atomicErrors(items: RawSchema, at: string): readonly FieldError[] {
  const text = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  if (items.type === 'array' && (items[listType] ?? 'atomic') !== 'atomic')
    return [invalidValue(`${at}.${listType}`, items[listType], text)]
  if (items.type === 'object' && items[mapType] !== 'atomic')
    return [invalidValue(`${at}.${mapType}`, items[mapType] ?? null, text)]
  return []
}

function keysErrors(schema: RawSchema, path: string): readonly FieldError[] {
  const type = schema[listType]
  if ((schema[mapKeys] ?? []).length === 0 || type === 'map') return []
  const text = 'must be map if x-kubernetes-list-map-keys is non-empty'
  const at = `${path}.${listType}`
  return [type === undefined ? required(at, text) : invalidValue(at, type, text)]
}

function* mapErrors(schema: RawSchema, path: string): ErrorSteps {
  const keys = schema[mapKeys] ?? []
  const isRepeated = repetitions()
  const items = itemsOf(schema)
  const isRequired = new Set(items?.required)
  const at = `${path}.items`
  const noKeys =
    keys.length === 0
      ? [required(`${path}.${mapKeys}`, 'must not be empty if x-kubernetes-list-type is map')]
      : []
  if (items === undefined)
    return schema.items === undefined
      ? [...noKeys, required(at, 'must have a schema if x-kubernetes-list-type is map')]
      : noKeys
  if (items.type !== 'object') {
    const text = "must be object if parent array's x-kubernetes-list-type is map"
    return [...noKeys, invalidValue(`${at}.type`, items.type ?? '', text)]
  }
  return [
    ...noKeys,
    ...(yield* itemErrors(keys, name => [
      ...(isRepeated(name)
        ? [invalidValue(`${path}.${mapKeys}`, keys, 'must not contain duplicate entries')]
        : []),
      ...mapKeyErrors(schema, { items, path, name, isRequired: isRequired.has(name) }),
    ])),
  ]
}

interface MapKey {
  readonly items: RawSchema
  readonly path: string
  readonly name: string
  readonly isRequired: boolean
}

function mapKeyErrors(schema: RawSchema, { items, path, name, isRequired }: MapKey): readonly FieldError[] {
  const properties = items.properties ?? {}
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined
  if (property === undefined) {
    const text = 'entries must all be names of item properties'
    return [invalidValue(`${path}.${mapKeys}`, schema[mapKeys], text)]
  }
  const at = key(`${path}.items.properties`, name)
  const own = 'this property is in x-kubernetes-list-map-keys, so it'
  const scalar = "must be a scalar type if parent array's x-kubernetes-list-type is map"
  return [
    ...(property.type === 'array' || property.type === 'object'
      ? [invalidValue(`${at}.type`, property.type, scalar)]
      : []),
    ...(isRequired || (property.default ?? null) !== null
      ? []
      : [required(`${at}.default`, `${own} must have a default or be a required property`)]),
    ...(property.nullable === true ? [forbidden(`${at}.nullable`, `${own} cannot be nullable`)] : []),
  ]
}
