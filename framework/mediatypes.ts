import { unsupportedMediaType } from './errors.ts'
import type { VerbRequest } from './exchange.ts'

/** No request body may be longer, in bytes (chapter 40, rule 1.35). */
export const bodyLimit = 3 * 1024 * 1024

const accepted = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']

/** The media type of a body without its parameters, in lower case; '' when the request does not say. */
export const bodyType = ({ headers }: Pick<VerbRequest, 'headers'>): string =>
  (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

/** How a body is written; nothing said means JSON. Throws 415 (chapter 40, rule 1.33). */
export function bodyFormat(request: Pick<VerbRequest, 'headers'>): 'json' | 'yaml' {
  const type = bodyType(request)
  if (type === '' || type === 'application/json') return 'json'
  if (type === 'application/yaml') return 'yaml'
  throw unsupportedMediaType(accepted)
}
