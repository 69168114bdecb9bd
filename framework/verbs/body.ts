import { type Awaitable, attempt, inTurns, nowOrInTurns, Pace } from '../async/awaitable.ts'
import type { ApiResource, Served } from '../contract/apis.ts'
import type { RequestContext } from '../contract/context.ts'
import type { DecodingScope } from '../contract/schema.ts'
import type { Steps } from '../json/json.ts'
import { isMembers } from '../json/values.ts'
import { badRequest, type FieldError, invalid, type StatusError } from '../meta/errors.ts'
import { apiVersionOf, groupIn, isGroupVersion, type KubeObject, type ObjectKey } from '../meta/object.ts'
import type { FieldValidation } from '../query/options.ts'
import type { VerbRequest } from '../request/response.ts'
import { hasMany } from '../wire/encode.ts'
import { checkTexts, DecodeError, decodeMetadata, jsonType, MissingKindError } from '../wire/metadata.ts'
import {
  type BodyFormat,
  bodyFormat,
  bodyLimit,
  linesOf,
  type ParsedBody,
  parseBody,
  preview,
  typedProblems,
} from '../wire/parsebody.ts'
import { type Call, checkName } from './call.ts'
import { memberAt } from './gomembers.ts'
import { withGoTimes } from './gotimes.ts'

/** What the decoding of an object depends on. */
export type Decodable = Pick<Served, 'group' | 'version' | 'kind' | 'schema'> & {
  readonly resource: Pick<ApiResource, 'custom' | 'complete'> & {
    readonly names: Pick<ApiResource['names'], 'kind'>
  }
}

/** A decoded object and the paths of its unknown fields: `spec.foo`. */
export interface DecodedObject {
  readonly object: KubeObject
  readonly unknown: readonly string[]
}

/** Reads the object in a request's body. Throws 415, 413, then 400 and 422 (rules.md 2.38 to 2.53). */
export async function readObject(
  ctx: RequestContext,
  served: Served,
  request: VerbRequest,
  validation: FieldValidation,
): Promise<KubeObject> {
  const format = bodyFormat(request, served.resource.custom)
  const body = { bytes: await request.body(bodyLimit), format }
  const pace = new Pace()
  const parsed = await parsedBody(request, body, served.kind)
  await pace.due()
  const { object, unknown } = await nowOrInTurns(decodeOrRefuse(parsed, body, served), pace)
  await pace.due()
  const isTyped = format === 'json' && !served.resource.custom && unknown.length > 0
  const problems = isTyped
    ? await inTurns(typedProblems(body.bytes.toString('utf8'), new Set(unknown)), pace)
    : [...parsed.duplicates, ...unknown.map(unknownField)]
  report(ctx, validation, problems, text =>
    cannotBeHandled(object.kind, served, `strict decoding error: ${text}`),
  )
  return object
}

/** Throws 400 for a body that is not JSON, and 413. */
export const parseOrRefuse = (request: VerbRequest, bytes: Buffer, kind: string): Awaitable<ParsedBody> =>
  parsedBody(request, { bytes, format: 'json' }, kind)

interface Body {
  readonly bytes: Buffer
  readonly format: BodyFormat
}

const parsedBody = (request: VerbRequest, body: Body, kind: string): Awaitable<ParsedBody> =>
  attempt(
    () => parseBody(request, body.bytes, body.format),
    error => {
      throw refusalOf(error, body, kind)
    },
  )

/** 400 for a `SyntaxError`; the same error for others. */
function refusalOf(error: unknown, { bytes, format }: Body, kind: string): unknown {
  if (!(error instanceof SyntaxError)) return error
  const why = format === 'json' ? `json parse error: ${error.message}` : error.message
  return unrecognized(kind, `couldn't get version/kind; ${why}`, bytes)
}

const unrecognized = (kind: string, why: string, bytes: Buffer): StatusError =>
  badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${preview(bytes)})`)

const cannotBeHandled = (kind: string, { version, kind: expected }: Served, why: string): StatusError =>
  badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected}: ${why}`)

function* decodeOrRefuse({ value }: ParsedBody, { bytes }: Body, served: Served): Steps<DecodedObject> {
  try {
    return yield* decodeSteps(value, served)
  } catch (error) {
    if (error instanceof UnrecognizedError) throw unrecognized(served.kind, error.message, bytes)
    if (error instanceof DecodeError) throw cannotBeHandled(served.kind, served, error.message)
    if (error instanceof MissingKindError)
      throw unrecognized(served.kind, missingKind(bytes.toString('utf8')), bytes)
    throw error
  }
}

export const unknownField = (path: string): string => `unknown field "${path}"`
export const missingKind = (body: string): string => `Object 'Kind' is missing in '${body}'`

/**
 * Turns a JSON value into an object of the served kind, in steps: kind and apiVersion are filled in where they may be left out,
 * metadata is checked, the schema prunes and applies defaults. Throws a `DecodeError` for wrong types, a
 * `MissingKindError`, 400 or 422 for another kind or version, 413 for too many labels or annotations.
 */
export function* decodeSteps(value: unknown, served: Decodable, scope?: DecodingScope): Steps<DecodedObject> {
  if (jsonType(value) !== 'object') {
    throw new DecodeError(
      `json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`,
    )
  }
  const fields = value as Readonly<Record<string, unknown>>
  const typed = typeOf(fields, served)
  checkTexts(fields.metadata)
  const { metadata, unknown } = decodeMetadata(fields.metadata)
  const whole = { ...fields, ...typed, metadata }
  const { schema } = served
  const isLarge = hasMany(whole)
  const decoded =
    isLarge && schema.decodeSteps ? yield* schema.decodeSteps(whole, scope) : schema.decode(whole, scope)
  if (isLarge) yield
  const timed = isCustom(served) ? decoded.object : withGoTimes(decoded.object, served.group, served.kind)
  yield* refuseMistyped(timed, served)
  yield
  const paths = [...new Set([...unknown, ...decoded.unknown])]
  // Kubernetes reads metadata of custom kinds first.
  if (!served.resource.custom) paths.sort()
  return { object: completed(timed, served), unknown: paths }
}

const completed = (object: KubeObject, { kind, resource }: Decodable): KubeObject =>
  kind === resource.names.kind ? (resource.complete?.(object) ?? object) : object

/** Ignores problems, warns about them or refuses the request, by `fieldValidation` (rules.md 2.46). */
export function report(
  ctx: RequestContext,
  validation: FieldValidation,
  problems: readonly string[],
  refuse: (text: string) => StatusError,
): void {
  if (problems.length === 0 || validation === 'Ignore') return
  if (validation === 'Strict') throw refuse(problems.join(', '))
  for (const line of problems.flatMap(linesOf)) ctx.record.warn(line)
}

type Members = Readonly<Record<string, unknown>>

/** apiVersion and kind of an object. */
export interface TypeMeta {
  readonly apiVersion: string
  readonly kind: string
}

/** apiVersion or kind cannot be decoded. */
class UnrecognizedError extends DecodeError {}

/** The type of a body, with defaults where it may be omitted. Throws what `decodeSteps` throws. */
export function typeOf(fields: Members, served: Decodable): TypeMeta {
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

/** The apiVersion of an object; '' when it has none. Throws an `UnrecognizedError`. */
function readApiVersion(fields: Members): string {
  const apiVersion = readText(fields, 'apiVersion')
  if (isGroupVersion(apiVersion)) return apiVersion
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
function checkType({ apiVersion, kind }: TypeMeta, served: Decodable, fields: Members): void {
  const expected = apiVersionOf(served.group, served.version)
  if (kind === served.kind && apiVersion === expected) return
  if (!served.resource.custom) throw new DecodeError(unregistered(kind, apiVersion))
  const wrong = (field: string, value: string, wanted: string): readonly FieldError[] =>
    value === wanted ? [] : [{ type: 'FieldValueInvalid', field, value, detail: `must be ${wanted}` }]
  throw invalid(kind, groupIn(apiVersion), nameIn(fields), [
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

/** The names that Go's decoder has for the types of a schema. */
const jsonNames: Readonly<Record<string, string>> = { integer: 'number', boolean: 'bool' }

/**
 * Kubernetes decodes built-in kinds into Go's types: a value of another type is 400, not 422. Throws a `DecodeError`.
 */
export function* refuseMistyped(object: KubeObject, served: Decodable): Steps {
  const { group, kind, schema } = served
  if (isCustom(served)) return
  const what = [object, undefined, { mayRepeat: true, withoutRules: true }] as const
  const errors = schema.validateSteps ? yield* schema.validateSteps(...what) : schema.validate(...what)
  const error = errors.find(({ type }) => type === 'FieldValueTypeInvalid')
  if (error !== undefined) throw new DecodeError(explain(group, kind, error))
}

/** Whether objects are of the custom kind itself, and not of a subresource's kind: their schema alone decodes them. */
export const isCustom = ({ resource, kind }: Decodable): boolean =>
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
