import { unauthorized } from '../meta/errors.ts'
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

const prefix = 'base64url.bearer.authorization.k8s.io.'

/**
 * The bearer token that a browser, which cannot send an `Authorization` header, puts among the protocols of a WebSocket
 * (rules.md 9.3). undefined: there is none. Throws 401 for one that nobody can mean.
 */
export function webSocketToken(credentials: Credentials): string | undefined {
  if (String(credentials.headers.upgrade).toLowerCase() !== 'websocket') return undefined
  const protocols = headerLines(credentials, 'sec-websocket-protocol')
    .flatMap(line => line.split(','))
    .map(protocol => protocol.trim())
  const [token, ...more] = protocols.filter(protocol => protocol.startsWith(prefix))
  if (token === undefined) return undefined
  if (more.length > 0) throw unauthorized('multiple base64.bearer.authorization tokens specified')
  // The one with the token is not answered with: there has to be another.
  if (protocols.length === 1) throw unauthorized('missing additional subprotocol')
  return decoded(token.slice(prefix.length))
}

function decoded(encoded: string): string {
  const bytes = Buffer.from(encoded, 'base64url')
  const token = bytes.toString()
  if (bytes.toString('base64url') !== encoded || !Buffer.from(token).equals(bytes) || token === '')
    throw unauthorized('invalid base64.bearer.authorization token encoding')
  return token
}
