import type { VerbRequest } from '../request/response.ts'
import { bodyType } from '../wire/mediatypes.ts'
import { parseBody } from '../wire/parsebody.ts'
import type { BodyCopy } from './bodycopy.ts'
import type { AuditEvent } from './event.ts'

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The object or patch that was sent; undefined for what could not be read. */
export function requestedObject(request: Pick<VerbRequest, 'headers'>, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  const type = bodyType(request)
  const format = type.endsWith('yaml') ? 'yaml' : type.endsWith('protobuf') ? 'protobuf' : 'json'
  try {
    return parseBody(bytes, format).value
  } catch {
    return undefined
  }
}

/** `metadata.name` of an object. */
export function nameIn(object: unknown): string {
  const metadata = isFields(object) ? object.metadata : undefined
  return isFields(metadata) && typeof metadata.name === 'string' ? metadata.name : ''
}

export const answeredObject = (copy: BodyCopy | undefined): unknown => copy?.json

/** The Status that was answered, or only its code. */
export function answeredStatus(
  code: number,
  copy: BodyCopy | undefined,
): NonNullable<AuditEvent['responseStatus']> {
  const answered = copy?.json
  if (!isFields(answered) || answered.kind !== 'Status') return { metadata: {}, code }
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

/** The object, or list, without `managedFields`. */
export function withoutManagedFields(object: unknown): unknown {
  if (!isFields(object)) return object
  const { items } = object
  if (Array.isArray(items)) return { ...object, items: items.map(withoutManagedFields) }
  if (!isFields(object.metadata)) return object
  const { managedFields: _managed, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** What Kubernetes records of a request in which the server itself failed. */
export const panicStatus = (why: string): NonNullable<AuditEvent['responseStatus']> => ({
  metadata: {},
  status: 'Failure',
  message: `APIServer panic'd: ${why}`,
  reason: 'InternalError',
  code: 500,
})
