import { isMembers } from '../json/values.ts'
/** The claims of a JSON web token. */
export type Claims = Readonly<Record<string, unknown>>

/** Characters: the head of a request with a longer one is refused, but a TokenReview can have any. */
const longestToken = 64 * 1024

/**
 * The claims of a token without verification: only to find its issuer. undefined: not a JSON web token in compact form.
 */
export function unverifiedClaims(token: string): Claims | undefined {
  if (token.length > longestToken) return undefined
  const [header, payload, signature, ...more] = token.split('.')
  if (!header || !payload || signature === undefined || more.length > 0) return undefined
  return objectIn(Buffer.from(payload, 'base64url').toString())
}

function objectIn(json: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const isObject = (value: unknown): value is Claims => isMembers(value)

export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(entry => typeof entry === 'string')

/** `aud` is a string or a list (RFC 7519, section 4.1.3). */
export const audiencesIn = ({ aud }: Claims): readonly string[] =>
  typeof aud === 'string' ? [aud] : isTexts(aud) ? aud : []
