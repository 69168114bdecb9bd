import { type Fields, isObject } from '../framework/formats/values.ts'
import type { JSONSchemaProps } from '../framework/meta/jsonschema.ts'
import type { KubeObject } from '../framework/meta/object.ts'

/** The value without empty lists and maps; undefined when it is one. The same value when there is nothing to leave out. */
type Omit = (value: unknown) => unknown

/**
 * Lists and maps that are empty are not there at all in built-in kinds: Go leaves them out of JSON (`omitempty`). Structs
 * stay, and so do lists that are nullable: those are always written.
 */
export function omittingEmpty(schema: JSONSchemaProps): (object: KubeObject) => KubeObject {
  const omit = omitMembers(schema)
  return object => omit(object) as KubeObject
}

function omitOf(schema: JSONSchemaProps): Omit {
  if (schema.type === 'array') return omitList(schema)
  if (schema.type !== 'object') return value => value
  if (schema.properties !== undefined) return omitMembers(schema)
  return schema.additionalProperties === undefined
    ? value => value
    : value => (isObject(value) && Object.keys(value).length === 0 ? undefined : value)
}

function omitList({ items = {}, nullable }: JSONSchemaProps): Omit {
  const omit = omitOf(items)
  return value => {
    if (!Array.isArray(value)) return value
    if (value.length === 0) return nullable === true ? value : undefined
    const next = value.map(item => omit(item) ?? item)
    return next.every((item, i) => item === value[i]) ? value : next
  }
}

function omitMembers({ properties = {} }: JSONSchemaProps): Omit {
  const omits = Object.entries(properties).map(([key, property]) => [key, omitOf(property)] as const)
  return value => {
    if (!isObject(value)) return value
    let result: Fields = value
    for (const [key, omit] of omits) {
      const next = omit(value[key])
      if (next === value[key]) continue
      const { [key]: _, ...others } = result
      result = next === undefined ? others : { ...others, [key]: next }
    }
    return result
  }
}
