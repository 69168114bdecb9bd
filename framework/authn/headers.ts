import type { Credentials } from '../request/authenticator.ts'

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
