import type { FieldError } from '../errors.ts'
import { DecodeError } from '../metadata.ts'
import type { KubeObject } from '../object.ts'
import type { Served } from './served.ts'

/** How Go's decoder calls the types of JSON that schemas call by other names. */
const jsonNames: Readonly<Record<string, string>> = { integer: 'number', boolean: 'bool' }

/**
 * Upstream reads built-in kinds into Go's types: of those, a value of another type is a body that cannot be read, 400, not an
 * invalid object, 422 (chapter 40, section 2.8). Throws a `DecodeError`.
 */
export function refuseMistyped(object: KubeObject, { resource, kind, schema }: Served): void {
  if (resource.custom && kind === resource.names.kind) return
  const error = schema.validate(object).find(({ type }) => type === 'FieldValueTypeInvalid')
  if (error !== undefined) throw new DecodeError(explain(kind, error))
}

function explain(kind: string, { field, detail, value }: FieldError): string {
  const wanted = /must be of type (\w+)/.exec(detail)?.[1] ?? 'object'
  if (wanted === 'byte') return `illegal base64 data at input byte ${illegalAt(String(value))}`
  const given = jsonNames[String(value)] ?? String(value)
  return `json: cannot unmarshal ${given} into Go struct field ${kind}.${field} of type ${jsonNames[wanted] ?? wanted}`
}

/** Where Go's reader of base64 stops: at the first character that is none, or at the end of the last whole group. */
function illegalAt(text: string): number {
  const at = text.search(/[^A-Za-z0-9+/]/)
  return at === -1 ? text.length - (text.length % 4) : at
}
