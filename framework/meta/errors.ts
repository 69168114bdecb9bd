import { goQuoted } from '../json/gotext.ts'
import { Findings, formatJson } from '../json/json.ts'
import { groupResource } from './object.ts'
import { isForeignStatus, statusBrand } from './statusbrand.ts'

/** One entry of `details.causes` (rules.md 2.18). */
export interface StatusCause {
  readonly reason?: string
  readonly message: string
  readonly field?: string
}

/** `details` of a Status. `kind` is the plural name of the resource, except for 422. */
export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

/** `metav1.Status` (rules.md 2.1). */
export interface Status {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: { readonly continue?: string }
  readonly status: 'Failure' | 'Success'
  readonly message?: string
  readonly reason?: string
  readonly details?: StatusDetails
  readonly code?: number
}

/**
 * The error that clients get as its Status. An error of a second copy of this module, such as the one that a plugin imports
 * from the package, is one, too. Other errors are logged, and clients get 500 with an ID. Functions such as
 * `notFound` make the usual ones; others are made by the constructor:
 *
 * ```ts
 * throw new StatusError(422, 'Invalid', 'the quota is exceeded')
 * ```
 *
 * Those with a code below 500 have no stack.
 */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  /** The Status that is sent. */
  readonly status: Status & { readonly code: number }
  constructor(code: number, reason: string, message: string, details?: StatusDetails) {
    const { stackTraceLimit } = Error
    // A refusal is sent and not logged: recording its stack would take longer than the rest of it.
    if (code < 500) Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason === '' ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    }
  }
  /** Marks the errors of all copies of this module. */
  get [statusBrand](): true {
    return true
  }
  /** The HTTP status. */
  get code(): number {
    return this.status.code
  }
  /** The reason, such as `NotFound`; '' without one. */
  get reason(): string {
    return this.status.reason ?? ''
  }
}

const isInstance = Function.prototype[Symbol.hasInstance]

// Subclasses inherit it, and have no foreign instances.
Object.defineProperty(StatusError, Symbol.hasInstance, {
  value(this: unknown, value: unknown): boolean {
    return isInstance.call(this, value) || (this === StatusError && isForeignStatus(value))
  },
})

/** The resource that an error is about, and the object if there is one. */
export interface About {
  readonly group: string
  readonly resource: string
  readonly name?: string
}

const detailsOf = ({ group, resource, name }: About): StatusDetails => ({
  ...(name === undefined || name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  kind: resource,
})

const gr = (about: About): string => groupResource(about.group, about.resource)

// The constructors of `apimachinery/pkg/api/errors`, one for each reason (rules.md 2.1 to 2.9).

/** 400 `BadRequest`, with the message. */
export const badRequest = (message: string): StatusError => new StatusError(400, 'BadRequest', message)
/** 401 `Unauthorized`. `why` is logged and not sent. */
export const unauthorized = (why?: string): StatusError =>
  Object.assign(new StatusError(401, 'Unauthorized', 'Unauthorized'), why === undefined ? {} : { cause: why })
/**
 * 403 `Forbidden`: `<resource> "<name>" is forbidden: <why>`, for a denied request or a write that admission refuses.
 * `about`: the resource; undefined for non-resource requests.
 */
export function forbidden(
  about: About | undefined,
  why: string,
  causes?: readonly StatusCause[],
): StatusError {
  if (about === undefined) return new StatusError(403, 'Forbidden', `forbidden: ${why}`, {})
  const subject = about.name ? `${gr(about)} "${about.name}"` : gr(about)
  const details = causes === undefined ? detailsOf(about) : { ...detailsOf(about), causes }
  return new StatusError(403, 'Forbidden', `${subject} is forbidden: ${why}`, details)
}
/** 404 `NotFound`: `<resource> "<name>" not found`. */
export const notFound = (about: About): StatusError =>
  new StatusError(404, 'NotFound', `${gr(about)} "${about.name ?? ''}" not found`, detailsOf(about))
/** 404 `NotFound` for unknown paths and resources. `hint`: what to request instead, after a colon. */
export const notServed = (hint = ''): StatusError =>
  new StatusError(404, 'NotFound', `the server could not find the requested resource${hint}`, {})
/** 405 `MethodNotAllowed` for a verb that the resource does not support. */
export const methodNotSupported = (about: About, verb: string): StatusError =>
  new StatusError(
    405,
    'MethodNotAllowed',
    `${verb} is not supported on resources of kind "${gr(about)}"`,
    detailsOf({ ...about, name: '' }),
  )
/** 405 for a path that does not have the method, independent of the object. */
export const methodNotAllowed = (): StatusError =>
  new StatusError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  )
/** 406 `NotAcceptable`, with the supported media types. */
export const notAcceptable = (accepted: readonly string[]): StatusError =>
  new StatusError(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`)
/** 409 `AlreadyExists`: `<resource> "<name>" already exists`. */
export const alreadyExists = (about: About, prefix = ''): StatusError =>
  new StatusError(
    409,
    'AlreadyExists',
    `${prefix}${gr(about)} "${about.name}" already exists`,
    detailsOf(about),
  )
/** 409 `Conflict`: `Operation cannot be fulfilled on <resource> "<name>": <why>`. Clients read the object again and retry. */
export const conflict = (about: About, why: string): StatusError =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${gr(about)} "${about.name}": ${why}`,
    detailsOf(about),
  )
/** The message of the optimistic lock, which clients search for (rules.md 2.14). */
export const modified = (about: About): StatusError =>
  conflict(
    about,
    'the object has been modified; please apply your changes to the latest version and try again',
  )
/**
 * 410 `Expired`: events or the snapshot of a list were lost; clients list again. With `continueToken` they can continue the
 * list at the newest revision (rules.md 4.21).
 */
export function expired(message: string, continueToken?: string): StatusError {
  const error = new StatusError(410, 'Expired', message)
  if (continueToken === undefined) return error
  return Object.assign(error, { status: { ...error.status, metadata: { continue: continueToken } } })
}
/** 413 `RequestEntityTooLarge`. */
export const tooLarge = (why: string): StatusError =>
  new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${why}`)
/** 415 `UnsupportedMediaType`, with the supported media types. */
export const unsupportedMediaType = (accepted: readonly string[]): StatusError =>
  new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )
/** 429 `TooManyRequests`; clients retry after the seconds. */
export const tooManyRequests = (message: string, retryAfterSeconds: number): StatusError =>
  new StatusError(429, 'TooManyRequests', message, { retryAfterSeconds })
/** 500 `InternalError`, whose message clients see. */
export const internalError = (why: string): StatusError =>
  new StatusError(500, 'InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] })
/** 503 `ServiceUnavailable`, with the message; clients retry after the seconds, if given. */
export const serviceUnavailable = (message: string, retryAfterSeconds?: number): StatusError =>
  new StatusError(
    503,
    'ServiceUnavailable',
    message,
    retryAfterSeconds === undefined ? undefined : { retryAfterSeconds },
  )
/** 504 `Timeout`; clients may retry. */
export const timeout = (why: string, details: StatusDetails = {}): StatusError =>
  new StatusError(504, 'Timeout', `Timeout: ${why}`, details)

/** The types of field errors, by the constants that clients see as `cause.reason` (rules.md 2.19). */
export type FieldErrorType =
  | 'FieldValueRequired'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooShort'
  | 'FieldValueTooMany'
  | 'FieldValueTooFew'
  | 'FieldValueInvalid'
  | 'FieldValueTypeInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueNotFound'
  | 'InternalError'

/**
 * One problem of one field. `field` is the path, such as `spec.a[0].b`; the empty path is printed as `<nil>`. Without
 * `value` no value is printed; an undefined value is printed as `null`.
 */
export interface FieldError {
  readonly type: FieldErrorType
  readonly field: string
  readonly value?: unknown
  readonly detail: string
}

const printed: Record<FieldErrorType, readonly [text: string, withValue: boolean]> = {
  FieldValueRequired: ['Required value', false],
  FieldValueForbidden: ['Forbidden', false],
  FieldValueTooLong: ['Too long', false],
  FieldValueTooShort: ['Too short', false],
  FieldValueTooMany: ['Too many', true],
  FieldValueTooFew: ['Too few', true],
  FieldValueInvalid: ['Invalid value', true],
  FieldValueTypeInvalid: ['Invalid value', true],
  FieldValueNotSupported: ['Unsupported value', true],
  FieldValueDuplicate: ['Duplicate value', true],
  FieldValueNotFound: ['Not found', true],
  InternalError: ['Internal error', false],
}

/** Strings are quoted, other values are compact JSON as Go writes it (rules.md 2.20). */
function printValue(value: unknown): string {
  if (value === undefined) return 'null'
  if (typeof value === 'string') return goQuoted(value)
  return typeof value === 'object' ? goJson(value) : formatJson(value)
}

/** Go escapes characters that have a meaning in HTML. */
const goJson = (value: unknown): string =>
  formatJson(value).replace(
    /[<>&\u2028\u2029]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** The text of a field error without its field: `Invalid value: "x": must be …` (rules.md 2.18). */
export function fieldErrorBody(error: FieldError): string {
  const [text, withValue] = printed[error.type]
  const value = withValue && 'value' in error ? `: ${printValue(error.value)}` : ''
  return `${text}${value}${error.detail === '' ? '' : `: ${error.detail}`}`
}

export const fieldErrorText = (error: FieldError): string =>
  `${error.field === '' ? '<nil>' : error.field}: ${fieldErrorBody(error)}`

/**
 * 422 `Invalid` for the field errors of an object (rules.md 2.18). `kind` is a kind, not a resource.
 *
 * ```ts
 * const tooSmall = { type: 'FieldValueInvalid', field: 'spec.size', value: 0, detail: 'must be positive' } as const
 * throw invalid('Widget', 'example.com', 'a', [tooSmall])
 * ```
 */
export function invalid(kind: string, group: string, name: string, all: readonly FieldError[]): StatusError {
  const errors = Findings.of(all, fieldErrorText)
  const texts = [...new Set(errors.map(fieldErrorText))]
  const aggregate = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  const causes = errors.map(e => ({
    reason: e.type,
    message: fieldErrorBody(e),
    field: e.field === '' ? '<nil>' : e.field,
  }))
  const about = Object.entries({ name, group, kind }).filter(([, text]) => text !== '')
  const details = { ...Object.fromEntries(about), causes }
  return new StatusError(
    422,
    'Invalid',
    `${groupResource(group, kind)} "${name}" is invalid: ${aggregate}`,
    details,
  )
}
