import type { IncomingHttpHeaders } from 'node:http'
import type { Credentials } from '../authenticator.ts'

/**
 * The lines of one header as they came. Node joins repeated lines with commas, which for groups would turn the one
 * group `a, system:masters` into two. Without raw headers only a header that cannot have been joined is readable.
 */
export function headerLines(credentials: Credentials, name: string): readonly string[] {
  const { rawHeaders, headers } = credentials
  if (rawHeaders === undefined) return [headers[name] ?? []].flat()
  const lines: string[] = []
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.toLowerCase() === name) lines.push(rawHeaders[i + 1] ?? '')
  return lines
}

const identity = /^x-remote-(user|uid|group|extra-.*)$/

/** The headers without those that assert an identity; the same object when there are none (chapter 30, section 1.3). */
export function withoutIdentity(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const names = Object.keys(headers)
  if (!names.some(name => identity.test(name))) return headers
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !identity.test(name)))
}
