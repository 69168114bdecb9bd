import { unauthorized } from '../meta/errors.ts'
import { identityText } from '../net/headers.ts'
import type { Credentials } from '../request/authenticator.ts'

/**
 * The lines of one header. Node joins repeated lines with commas, which would change group names with commas. Without
 * raw headers, only the joined value is available.
 */
export function headerLines(credentials: Credentials, name: string): readonly string[] {
  const { rawHeaders, headers } = credentials
  if (rawHeaders === undefined) return [headers[name] ?? []].flat()
  const lines: string[] = []
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.toLowerCase() === name) lines.push(rawHeaders[i + 1] ?? '')
  return lines
}

/** A text of an identity, from a line. Throws 401 for bytes that are not UTF-8: two names could become one. */
export function identityOn(line: string): string {
  const text = identityText(line)
  if (text === undefined) throw unauthorized('an identity in a header is not UTF-8')
  return text
}

/** The lines of a header that has texts of an identity. */
export const identityLines = (credentials: Credentials, name: string): readonly string[] =>
  headerLines(credentials, name).map(identityOn)

const prefix = 'base64url.bearer.authorization.k8s.io.'

/**
 * The bearer token in the protocols of a WebSocket, for browsers, which cannot set `Authorization`
 * (`bearertoken.NewProtocolAuthenticator`; rules.md 9.3). undefined: no token. Throws 401 for an invalid one.
 */
export function webSocketToken(credentials: Credentials): string | undefined {
  if (String(credentials.headers.upgrade).toLowerCase() !== 'websocket') return undefined
  const protocols = headerLines(credentials, 'sec-websocket-protocol')
    .flatMap(line => line.split(','))
    .map(protocol => protocol.trim())
  const [token, ...more] = protocols.filter(protocol => protocol.startsWith(prefix))
  if (token === undefined) return undefined
  if (more.length > 0) throw unauthorized('multiple base64.bearer.authorization tokens specified')
  // The server does not select the protocol with the token: another one is required.
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
