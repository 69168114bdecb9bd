import type { Served } from '../contract/apis.ts'
import { isMembers } from '../json/json.ts'
import { badRequest, type FieldError, invalid } from '../meta/errors.ts'
import { apiVersionOf, type ObjectKey } from '../meta/object.ts'
import { DecodeError, jsonType, MissingKindError } from '../wire/metadata.ts'
import { type Call, checkName } from './call.ts'

type Members = Readonly<Record<string, unknown>>

/** apiVersion and kind of an object. */
export interface TypeMeta {
  readonly apiVersion: string
  readonly kind: string
}

/** apiVersion or kind cannot be decoded. */
export class UnrecognizedError extends DecodeError {}

/** The type of a body, with defaults where it may be omitted. Throws what `decodeValue` throws. */
export function typeOf(fields: Members, served: Served): TypeMeta {
  const expected = apiVersionOf(served.group, served.version)
  const isOwn = isCustom(served)
  const apiVersion = readApiVersion(fields) || (isOwn ? '' : expected)
  const kind = readText(fields, 'kind') || (isOwn ? '' : served.kind)
  if (kind === '') throw new MissingKindError()
  if (apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    )
  }
  checkType({ apiVersion, kind }, served, fields)
  return { apiVersion, kind }
}

/** Whether objects are of the custom kind itself, and not of a subresource's kind. */
const isCustom = ({ resource, kind }: Served): boolean => resource.custom && kind === resource.names.kind

/** The apiVersion of an object; '' when it has none. Throws an `UnrecognizedError`. */
export function readApiVersion(fields: Members): string {
  const apiVersion = readText(fields, 'apiVersion')
  if (apiVersion.split('/').length <= 2) return apiVersion
  throw new UnrecognizedError(`unexpected GroupVersion string: ${apiVersion}`)
}

function readText(fields: Members, field: keyof TypeMeta): string {
  const value = fields[field] ?? ''
  if (typeof value === 'string') return value
  throw new UnrecognizedError(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonType(value)} into Go struct field .${field} of type string`,
  )
}

/** Throws when the type is not the served one: 422 for custom kinds, a `DecodeError` for built-in ones. */
export function checkType({ apiVersion, kind }: TypeMeta, served: Served, fields: Members): void {
  const expected = apiVersionOf(served.group, served.version)
  if (kind === served.kind && apiVersion === expected) return
  if (!served.resource.custom) throw new DecodeError(unregistered(kind, apiVersion))
  const wrong = (field: string, value: string, wanted: string): readonly FieldError[] =>
    value === wanted ? [] : [{ type: 'FieldValueInvalid', field, value, detail: `must be ${wanted}` }]
  const [group] = apiVersion.includes('/') ? apiVersion.split('/') : ['']
  throw invalid(kind, group ?? '', nameIn(fields), [
    ...wrong('kind', kind, served.kind),
    ...wrong('apiVersion', apiVersion, expected),
  ])
}

export const unregistered = (kind: string, apiVersion: string): string =>
  `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "oriel"`

function nameIn({ metadata }: Members): string {
  const name = typeof metadata === 'object' && metadata !== null && 'name' in metadata ? metadata.name : ''
  return typeof name === 'string' ? name : ''
}

/**
 * Checks the type of a patch's result, which may differ from the served one. Throws a `DecodeError`, 400 or 422.
 */
export function checkPatchedType({ served }: Call, result: unknown, key: ObjectKey): void {
  if (!isMembers(result)) return
  const apiVersion = readApiVersion(result)
  const { kind } = result
  // Kubernetes decodes a built-in kind without an apiVersion as an empty object.
  if (apiVersion === '' && !served.resource.custom)
    checkName({ apiVersion, kind: served.kind, metadata: {} }, key)
  if (apiVersion === '' || typeof kind !== 'string' || kind === '') return
  checkType({ apiVersion, kind }, served, result)
}
