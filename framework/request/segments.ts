/**
 * Segments of URL paths. Percent-decoding happens here and nowhere else, one segment at a time, so that an encoded
 * slash can never become a separator.
 */

// The separator, '%' (a second decoding somewhere else would change the meaning) control characters and lone surrogates.
const unsafe = /[/%]|\p{Cc}|\p{Surrogate}/u

/** Nearly every segment: seen at one look. */
const ordinary = /^[\w:-][\w:.-]*$/

/** May this be a name in a path (chapter 40, rule 1.15)? */
export const isPathSegment = (text: string): boolean =>
  ordinary.test(text) || (text !== '' && text !== '.' && text !== '..' && !unsafe.test(text))

/** The text of one raw segment; undefined when it is empty, malformed, or nothing that may be in a path. */
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

// Legal in a path segment (RFC 3986) and part of Kubernetes names and kcp paths: kept readable in published URLs.
const readable = /%(3A|40|24|26|2B|2C|3B|3D)/g

/** The inverse of `decodeSegment`. Throws an `Error` for text that would not come back. */
export function encodeSegment(text: string): string {
  if (!isPathSegment(text)) {
    throw new Error(`${JSON.stringify(text)} cannot be a segment of a URL path`)
  }
  return encodeURIComponent(text).replace(readable, decodeURIComponent)
}
