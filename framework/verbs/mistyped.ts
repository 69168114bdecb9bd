import type { Served } from '../contract/apis.ts'
import type { FieldError } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'
import { DecodeError } from '../wire/metadata.ts'
import { memberAt } from './gomembers.ts'

/** How Go's decoder calls the types of JSON that schemas call by other names. */
const jsonNames: Readonly<Record<string, string>> = { integer: 'number', boolean: 'bool' }

/**
 * Upstream reads built-in kinds into Go's types: of those, a value of another type is a body that cannot be read, 400, not an
 * invalid object, 422 (chapter 40, section 2.8). Throws a `DecodeError`.
 */
export function refuseMistyped(object: KubeObject, served: Served): void {
  const { group, kind, schema } = served
  if (isCustom(served)) return
  const error = schema.validate(object).find(({ type }) => type === 'FieldValueTypeInvalid')
  if (error !== undefined) throw new DecodeError(explain(group, kind, error))
}

/** Objects that are read by their schema alone. */
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

/** Where Go's reader of base64 stops: at the first character that is none, or at the end of the last whole group. */
function illegalAt(text: string): number {
  const at = text.search(/[^A-Za-z0-9+/]/)
  return at === -1 ? text.length - (text.length % 4) : at
}
