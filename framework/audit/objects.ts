import type { Answer, VerbRequest } from '../request/response.ts'
import { bodyType, parseAtOnce } from '../wire/parsebody.ts'
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

export const answeredObject = (copy: BodyCopy | undefined): unknown => copy?.json

/** The Status of the response, or only its code. */
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

/** The Status that Kubernetes records if the server fails. */
export const panicStatus = (why: string): NonNullable<AuditEvent['responseStatus']> => ({
  metadata: {},
  status: 'Failure',
  message: `APIServer panic'd: ${why}`,
  reason: 'InternalError',
  code: 500,
})

/** Maximum length of recorded responses, in bytes. */
const limit = 10 * 1024 * 1024

/** A copy of a response body. */
export class BodyCopy {
  readonly #chunks: Buffer[] = []
  #length = 0
  contentType = ''

  add(chunk: Buffer): void {
    this.#length += chunk.length
    if (this.#length <= limit) this.#chunks.push(chunk)
    else this.#chunks.length = 0
  }

  /** Empty if nothing was copied. */
  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  /** The value of a JSON body; undefined for other bodies. */
  get json(): unknown {
    if (this.#chunks.length === 0 || !this.contentType.startsWith('application/json')) return undefined
    try {
      return JSON.parse(this.bytes.toString('utf8'))
    } catch {
      // The client has closed the connection before the end.
      return undefined
    }
  }
}

const beginsStatus = /^\{"(kind":"Status"|apiVersion":"v1","kind":"Status"|metadata":\{\},"status":")/

/** The same response with its body copied: all of it, or only if it has the final Status. */
export function keepBody(answer: Answer, copy: BodyCopy, everything: boolean): Answer {
  const { body, status, contentType } = answer
  copy.contentType = contentType
  if (Buffer.isBuffer(body)) {
    const says = status >= 400 || beginsStatus.test(body.subarray(0, 64).toString('latin1'))
    if (everything || says) copy.add(body)
    return answer
  }
  return everything ? { ...answer, body: copied(body, copy) } : answer
}

async function* copied(body: AsyncIterable<Buffer>, copy: BodyCopy): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    copy.add(chunk)
    yield chunk
  }
}
