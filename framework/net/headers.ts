import type { IncomingHttpHeaders } from 'node:http'
import type { HeaderFields } from '../contract/upstream.ts'
import { forbidden } from '../meta/errors.ts'

/** Headers by name in lower case, as they are sent. */
export type HeaderMap = Record<string, string | readonly string[]>

/** Headers of one connection (RFC 9110, section 7.6.1). They are not forwarded. */
const hopByHop = new Set([
  'connection',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Some servers read `_` as `-`: a header is removed in both spellings. */
const normal = (name: string): string => name.replaceAll('_', '-').toLowerCase()

/** The headers that the message lists in `Connection`. They are not forwarded either. */
function nominated({ connection }: IncomingHttpHeaders): ReadonlySet<string> {
  const names = connection === undefined ? [] : connection.split(',')
  return new Set(names.map(name => normal(name.trim())))
}

/** The headers to forward, without those of the connection and those that `isDropped` selects (lower case, `_` as `-`). */
export function passedOn(headers: IncomingHttpHeaders, isDropped: (name: string) => boolean): HeaderMap {
  const forFirstHop = nominated(headers)
  const kept: HeaderMap = {}
  for (const name in headers) {
    const value = headers[name]
    const plain = normal(name)
    if (value === undefined || name.startsWith(':') || hopByHop.has(plain)) continue
    if (!forFirstHop.has(plain) && !isDropped(plain)) kept[name] = value
  }
  return kept
}

const secret = new Set(['authorization', 'cookie', 'cookie2', 'forwarded', 'via', 'x-real-ip', 'audit-id'])
const secretPrefixes = ['x-remote-', 'impersonate-', 'x-kcp-', 'x-forwarded-', 'x-client-', 'x-original-']

/** Headers with the client's credentials, identity or address. They are not sent to servers of tenants. */
export const isSecret = (name: string): boolean =>
  secret.has(name) || secretPrefixes.some(prefix => name.startsWith(prefix))

/** Also those that a browser keeps for all of this server: `nel` with `report-to` would report the URLs of other requests to a tenant. */
const answerSecrets = new Set([
  'audit-id',
  'set-cookie',
  'set-cookie2',
  'alt-svc',
  'strict-transport-security',
  'public-key-pins',
  'expect-ct',
  'clear-site-data',
  'nel',
  'report-to',
  'reporting-endpoints',
  'accept-ch',
  'service-worker-allowed',
])

/** Headers of a tenant's server that are not sent to clients of this server. */
export const isAnswerSecret = (name: string): boolean => answerSecrets.has(name)

const tokenProtocol = /^base64url\.bearer\.authorization\.k8s\.io\./i

/**
 * Removes a bearer token from the WebSocket protocols that the client offers (Kubernetes
 * `pkg/authentication/request/websocket/protocol.go`).
 */
export function withoutTokenProtocol(fields: HeaderMap): HeaderMap {
  const offered = fields['sec-websocket-protocol']
  if (offered === undefined) return fields
  const protocols = String(offered)
    .split(',')
    .map(protocol => protocol.trim())
  const { 'sec-websocket-protocol': _, ...rest } = fields
  const kept = protocols.filter(protocol => !tokenProtocol.test(protocol))
  return kept.length === 0 ? rest : { ...rest, 'sec-websocket-protocol': kept.join(', ') }
}

// A receiver removes spaces at both ends of a value: ` system:masters` would arrive as `system:masters`.
const altered = /^ | $|\p{Cc}|\p{Surrogate}/u

/** Throws 403 for a text of an identity that would arrive as another one. */
function unaltered(text: string): string {
  if (!altered.test(text)) return text
  const why = 'a name, a group or an extra value has control characters, or spaces at its ends'
  throw forbidden(undefined, `the user cannot be passed on: ${why}`)
}

/** A text of an identity as the value of a header: its UTF-8 bytes, one character per byte. Throws 403. */
export const identityValue = (text: string): string => Buffer.from(unaltered(text)).toString('latin1')

/** The inverse of `identityValue`; undefined for bytes that are not UTF-8. */
export function identityText(value: string): string | undefined {
  if (/^[ -~]*$/.test(value)) return value
  const text = Buffer.from(value, 'latin1').toString()
  return Buffer.from(text).toString('latin1') === value ? text : undefined
}

/** The names of the headers in which a proxy sends the user (kcp `pkg/proxy/authheaders/authheaders.go`). */
export interface IdentityNames {
  readonly user: string
  readonly uid: string
  readonly group: string
  readonly extraPrefix: string
}

export const defaultNames: IdentityNames = {
  user: 'X-Remote-User',
  uid: 'X-Remote-Uid',
  group: 'X-Remote-Group',
  extraPrefix: 'X-Remote-Extra-',
}

/** Whether a header asserts an identity, under the default names or under these. */
export function assertsIdentity(names: IdentityNames): (name: string) => boolean {
  const exact = new Set([names.user, names.uid, names.group].map(normal))
  const prefix = normal(names.extraPrefix)
  return name => name.startsWith('x-remote-') || exact.has(name) || name.startsWith(prefix)
}

interface Identified {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** The user as headers, with one line for each group and each extra value. */
export function identityFields(user: Identified, names: IdentityNames = defaultNames): HeaderFields {
  const extra = Object.entries(user.extra ?? {}).map(
    ([key, values]) =>
      [names.extraPrefix + encodeURIComponent(unaltered(key)), values.map(identityValue)] as const,
  )
  return {
    [names.user]: identityValue(user.name),
    ...(user.uid ? { [names.uid]: identityValue(user.uid) } : {}),
    ...(user.groups.length > 0 ? { [names.group]: user.groups.map(identityValue) } : {}),
    ...Object.fromEntries(extra),
  }
}
