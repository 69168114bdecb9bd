/**
 * Segments of URL paths. All percent-decoding is done here, one segment at a time, so that an encoded slash never becomes
 * a separator.
 */

// The separator, '%' (a second decoding would change the meaning), control characters and lone surrogates.
const unsafe = /[/%]|\p{Cc}|\p{Surrogate}/u

/** Matches nearly every segment, for speed. */
const ordinary = /^[\w:-][\w:.-]*$/

/** Whether a text can be a name in a path (rules.md 1.15). */
export const isPathSegment = (text: string): boolean =>
  ordinary.test(text) || (text !== '' && text !== '.' && text !== '..' && !unsafe.test(text))

/** Decodes one segment; undefined if it is empty, malformed, or not allowed in a path. */
export function decodeSegment(raw: string): string | undefined {
  const text = raw.includes('%') ? decoded(raw) : raw
  return text !== undefined && isPathSegment(text) ? text : undefined
}

function decoded(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw)
  } catch {
    return undefined
  }
}

// Legal in a path segment (RFC 3986) and part of Kubernetes names and kcp paths: not encoded in published URLs.
const readable = /%(3A|40|24|26|2B|2C|3B|3D)/g

/** The inverse of `decodeSegment`. Throws an `Error` for text that is not allowed in a path. */
export function encodeSegment(text: string): string {
  if (!isPathSegment(text)) {
    throw new Error(`${JSON.stringify(text)} cannot be a segment of a URL path`)
  }
  return encodeURIComponent(text).replace(readable, decodeURIComponent)
}
