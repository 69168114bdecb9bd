import { type Steps, Work } from '../json/json.ts'
import type { Answer, VerbRequest } from '../request/response.ts'
import { bodyType, parseAtOnce } from '../wire/parsebody.ts'
import { protobufType } from '../wire/protobuf/fields.ts'
import { jsonOfYaml } from '../wire/yamlsource.ts'
import type { AuditEvent } from './event.ts'

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The object or patch of the request: what the verb has `decoded`, or else JSON; undefined if it does not parse. A body that
 * was not decoded was refused: protobuf and long JSON may take long.
 */
export function requestedObject(
  request: Pick<VerbRequest, 'headers'>,
  bytes: Buffer,
  decoded: unknown,
): unknown {
  if (bytes.length === 0 || decoded !== undefined) return decoded
  if (bodyType(request).endsWith('protobuf') || bytes.length > mostRefused) return undefined
  try {
    return parseAtOnce(bytes, 'json').value
  } catch {
    return undefined
  }
}

/** Bytes of JSON that are decoded in some milliseconds at most. */
const mostRefused = 16 * 1024

/** `metadata.name` of an object. */
export function nameIn(object: unknown): string {
  const metadata = isFields(object) ? object.metadata : undefined
  return isFields(metadata) && typeof metadata.name === 'string' ? metadata.name : ''
}

type ResponseStatus = NonNullable<AuditEvent['responseStatus']>

const beginsStatus = /^\{"(kind":"Status"|apiVersion":"v1","kind":"Status"|metadata":\{\},"status":")/

/** A Status has the texts of about a megabyte of findings at most, and few values. */
const mostOfStatus = 4 * 1024 * 1024

/** The Status of the response, or only its code. */
export function answeredStatus({ status: code, body, contentType }: Answer): ResponseStatus {
  const plain: ResponseStatus = { metadata: {}, code }
  if (!Buffer.isBuffer(body) || body.length === 0) return plain
  if (contentType.startsWith(protobufType)) return statusOf(shortStatus(body), code) ?? plain
  const json = jsonIn(body, contentType)
  if (json === undefined) return plain
  const says = code >= 400 || beginsStatus.test(json.subarray(0, 64).toString('latin1'))
  if (!says || json.length > mostOfStatus) return plain
  return statusOf(JSON.parse(json.toString('utf8')), code) ?? plain
}

/** A body in JSON, and the JSON of a short one in YAML. */
function jsonIn(body: Buffer, contentType: string): Buffer | undefined {
  if (contentType.startsWith('application/json')) return body
  const pieces = body.length > mostInYaml ? undefined : jsonOfYaml(body)
  return pieces && Buffer.concat(pieces)
}

/** Bytes of YAML whose JSON is made in some milliseconds at most. */
const mostInYaml = 64 * 1024

/** Bytes of a Status in protobuf that are decoded in some milliseconds at most. */
const mostInProtobuf = 16 * 1024

/** The value of a short Status in protobuf, whose type comes first. */
function shortStatus(body: Buffer): unknown {
  if (body.length > mostInProtobuf || !body.subarray(0, 32).includes('Status')) return undefined
  try {
    return parseAtOnce(body, 'protobuf').value
  } catch {
    return undefined
  }
}

function statusOf(answered: unknown, code: number): ResponseStatus | undefined {
  if (!isFields(answered) || answered.kind !== 'Status') return undefined
  const { status, message, reason, details } = answered
  return {
    metadata: {},
    ...(typeof status === 'string' ? { status: status as 'Failure' | 'Success' } : {}),
    ...(typeof message === 'string' ? { message } : {}),
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(isFields(details) ? { details } : {}),
    code,
  }
}

/** The object, or list, without `managedFields`, in steps. */
export function* withoutManagedFields(object: unknown): Steps<unknown> {
  if (!isFields(object)) return object
  const { items } = object
  if (!Array.isArray(items)) return withoutOwn(object)
  const work = new Work()
  const others: unknown[] = []
  for (const item of items) {
    others.push(withoutOwn(item))
    if (work.isStepDone()) yield
  }
  return { ...object, items: others }
}

function withoutOwn(object: unknown): unknown {
  if (!isFields(object) || !isFields(object.metadata)) return object
  const { managedFields: _managed, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** The Status that Kubernetes records if the server fails. */
export const panicStatus = (why: string): ResponseStatus => ({
  metadata: {},
  status: 'Failure',
  message: `APIServer panic'd: ${why}`,
  reason: 'InternalError',
  code: 500,
})
