import type { Served } from '../contract/apis.ts'
import type { FieldError } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'
import { DecodeError } from '../wire/metadata.ts'
import { kindFields, type MessageField, messageFields } from '../wire/protobuf/fields.ts'

/** The names that Go's decoder has for the types of a schema. */
const jsonNames: Readonly<Record<string, string>> = { integer: 'number', boolean: 'bool' }

/**
 * Kubernetes decodes built-in kinds into Go's types: a value of another type is 400, not 422. Throws a `DecodeError`.
 */
export function refuseMistyped(object: KubeObject, served: Served): void {
  const { group, kind, schema } = served
  if (isCustom(served)) return
  const error = schema.validate(object).find(({ type }) => type === 'FieldValueTypeInvalid')
  if (error !== undefined) throw new DecodeError(explain(group, kind, error))
}

/** Whether objects are of the custom kind itself, and not of a subresource's kind: their schema alone decodes them. */
export const isCustom = ({ resource, kind }: Served): boolean =>
  resource.custom && kind === resource.names.kind

function explain(group: string, kind: string, { field, detail, value }: FieldError): string {
  const wanted = /must be of type (\w+)/.exec(detail)?.[1] ?? 'object'
  if (wanted === 'byte') return `illegal base64 data at input byte ${illegalAt(String(value))}`
  const given = jsonNames[String(value)] ?? String(value)
  const { name, type } = memberAt(group, kind, field) ?? {
    name: `${kind}.${field}`,
    type: jsonNames[wanted] ?? wanted,
  }
  return `json: cannot unmarshal ${given} into Go struct field ${name} of type ${type}`
}

/**
 * The offset of Go's base64 error: the first character outside the alphabet, or the end of the last complete group.
 */
function illegalAt(text: string): number {
  const at = text.search(/[^A-Za-z0-9+/]/)
  return at === -1 ? text.length - (text.length % 4) : at
}

/** A member of a Go struct, as Go's decoder of JSON names it. */
export interface Member {
  /** The innermost struct, and the path from the outermost: `PolicyRule.rules.verbs`. */
  readonly name: string
  readonly type: string
}

/** Go's name for the value at a path such as `rules[0].verbs`; undefined where the kind has no table. */
export function memberAt(group: string, kind: string, path: string): Member | undefined {
  const names: string[] = []
  let struct = kind
  let fields = kindFields(group, kind)
  const segments = path.split('.')
  for (const [index, segment] of segments.entries()) {
    const [, name = '', item] = /^([\w$-]+)(\[\d+\])?$/.exec(segment) ?? []
    const field = [...(fields?.values() ?? [])].find(each => each.name === name)
    if (field === undefined) return undefined
    names.push(name)
    const isInside = item !== undefined || (field.shape === 'map' && index + 1 < segments.length)
    // Keys of maps are not struct members.
    if (index + 1 === segments.length || field.shape === 'map')
      return { name: `${struct}.${names.join('.')}`, type: goType(field, isInside) }
    struct = field.type
    fields = messageFields(struct)
  }
  return undefined
}

const types: Readonly<Record<string, string>> = { text: 'string', int: 'int32', bytes: '[]uint8' }
const long = new Set(['generation', 'observedGeneration', 'gracePeriodSeconds', 'expirationSeconds'])

function goType({ name, type, shape }: MessageField, isInside: boolean): string {
  const message = messageFields(type) === undefined ? (types[type] ?? type) : `v1.${type}`
  const one = type === 'int' && long.has(name) ? 'int64' : message
  if (isInside || shape === 'one') return one
  return shape === 'list' ? `[]${one}` : `map[string]${one}`
}
