import { unsupportedMediaType } from '../meta/errors.ts'
import type { VerbRequest } from '../request/response.ts'

/** No request body may be longer, in bytes (chapter 40, rule 1.35). */
export const bodyLimit = 3 * 1024 * 1024

/** How a body may be written. */
export type BodyFormat = 'json' | 'yaml' | 'protobuf'

const formats: Readonly<Record<string, BodyFormat>> = {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/vnd.kubernetes.protobuf': 'protobuf',
}

/** The media type of a body without its parameters, in lower case; '' when the request does not say. */
export const bodyType = ({ headers }: Pick<VerbRequest, 'headers'>): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

/**
 * How a body is written; nothing said means JSON. Throws 415 (chapter 40, rule 1.33), also for protobuf where it is not
 * known: for custom resources.
 */
export function bodyFormat(request: Pick<VerbRequest, 'headers'>, custom = false): BodyFormat {
  const type = bodyType(request)
  const format = type === '' ? 'json' : Object.hasOwn(formats, type) ? formats[type] : undefined
  if (format !== undefined && !(custom && format === 'protobuf')) return format
  throw unsupportedMediaType(Object.keys(formats))
}

export const applyType = 'application/apply-patch+yaml'
