import { unauthorized } from '../meta/errors.ts'
import type { Authenticator, Credentials } from '../request/authenticator.ts'
import type { UserInfo } from '../request/user.ts'
import { authenticated } from './authentication.ts'
import { commonName } from './certificates.ts'
import { identityLines, identityOn } from './headers.ts'
import { trustIn } from './issuer.ts'

export interface RequestHeaderOptions {
  /** PEM bundle: clients with certificates of these authorities may set the headers. */
  readonly ca: string
  /** Accepted common names; all names if empty. */
  readonly allowedNames: readonly string[]
  readonly headers?: IdentityHeaders
  /** Authenticates requests that are not from the proxy, or without the headers. */
  readonly otherwise: Authenticator
}

/** Names of headers, of which the first that is set counts, and prefixes of names. */
export interface IdentityHeaders {
  readonly user: readonly string[]
  readonly group: readonly string[]
  readonly extraPrefix: readonly string[]
  readonly uid: readonly string[]
}

const kubernetes: IdentityHeaders = {
  user: ['x-remote-user'],
  group: ['x-remote-group'],
  extraPrefix: ['x-remote-extra-'],
  uid: ['x-remote-uid'],
}

const lowered = ({ user, group, extraPrefix, uid }: IdentityHeaders): IdentityHeaders => {
  const lower = (names: readonly string[]): readonly string[] => names.map(name => name.toLowerCase())
  return { user: lower(user), group: lower(group), extraPrefix: lower(extraPrefix), uid: lower(uid) }
}

/** Whether a header, in lower case, asserts an identity: proxies remove these from client requests. */
export function isIdentityHeader(headers: IdentityHeaders): (name: string) => boolean {
  const { user, group, uid, extraPrefix } = lowered(headers)
  const names = new Set([...user, ...group, ...uid])
  return name => names.has(name) || extraPrefix.some(prefix => name.startsWith(prefix))
}

/**
 * Users that a front proxy has authenticated, in `X-Remote-*` headers
 * (`apiserver/pkg/authentication/request/headerrequest`).
 */
export function requestHeaders(options: RequestHeaderOptions): Authenticator {
  const { ca, allowedNames, otherwise } = options
  const trusted = trustIn(ca)
  const headers = lowered(options.headers ?? kubernetes)
  return {
    authenticate: (credentials, cluster) => {
      const { certificate } = credentials
      if (certificate === undefined || !trusted(certificate))
        return otherwise.authenticate(credentials, cluster)
      if (allowedNames.length > 0 && !allowedNames.includes(commonName(certificate) ?? ''))
        throw unauthorized()
      // The certificate identifies the proxy, not its client.
      const { certificate: _proxy, ...rest } = credentials
      return assertedUser(credentials, headers) ?? otherwise.authenticate(rest, cluster)
    },
  }
}

function assertedUser(credentials: Credentials, headers: IdentityHeaders): UserInfo | undefined {
  const names = firstLines(credentials, headers.user)
  if (names.length === 0) return undefined
  const [name] = names
  const uids = firstLines(credentials, headers.uid)
  if (credentials.rawHeaders === undefined || names.length > 1 || !name || uids.length > 1)
    throw unauthorized()
  const extra = assertedExtra(credentials.rawHeaders, headers.extraPrefix)
  const [uid] = uids
  return authenticated({
    name,
    groups: headers.group.flatMap(header => identityLines(credentials, header)),
    ...(uid ? { uid } : {}),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  })
}

function firstLines(credentials: Credentials, names: readonly string[]): readonly string[] {
  const found = names.find(name => identityLines(credentials, name).length > 0)
  return found === undefined ? [] : identityLines(credentials, found)
}

function assertedExtra(
  rawHeaders: readonly string[],
  prefixes: readonly string[],
): Record<string, readonly string[]> {
  const extra = new Map<string, string[]>()
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? ''
    const prefix = prefixes.find(each => name.startsWith(each))
    if (prefix === undefined) continue
    const key = decodeKey(name.slice(prefix.length))
    extra.set(key, [...(extra.get(key) ?? []), identityOn(rawHeaders[i + 1] ?? '')])
  }
  return Object.fromEntries(extra)
}

/** Decoded once. A key that does not decode is rejected: the identity must not lose a part. */
function decodeKey(escaped: string): string {
  try {
    return decodeURIComponent(escaped).toLowerCase()
  } catch {
    throw unauthorized()
  }
}
