import type { Authenticator, Credentials } from '../authenticator.ts'
import { unauthorized } from '../errors.ts'
import type { UserInfo } from '../user.ts'
import { authenticated } from './authenticated.ts'
import { commonName } from './certificates.ts'
import { headerLines } from './headers.ts'
import { trustIn } from './issuer.ts'

export interface RequestHeaderOptions {
  /** PEM bundle: only certificates of these authorities may assert identities. */
  readonly ca: string
  /** Common names that may; empty means every name. */
  readonly allowedNames: readonly string[]
  /** Asked when the request does not come from the proxy or asserts nobody. */
  readonly otherwise: Authenticator
}

const extraPrefix = 'x-remote-extra-'

/** Users that a front proxy has authenticated and names in `X-Remote-*` headers (chapter 30, section 1.3). */
export function requestHeaders({ ca, allowedNames, otherwise }: RequestHeaderOptions): Authenticator {
  const trusted = trustIn(ca)
  return {
    authenticate: async (credentials, cluster) => {
      const { certificate } = credentials
      if (certificate === undefined || !trusted(certificate))
        return otherwise.authenticate(credentials, cluster)
      if (allowedNames.length > 0 && !allowedNames.includes(commonName(certificate) ?? ''))
        throw unauthorized()
      // The proxy's certificate is an identity of the proxy, not of the client it speaks for.
      const { certificate: _proxy, ...rest } = credentials
      return assertedUser(credentials) ?? otherwise.authenticate(rest, cluster)
    },
  }
}

function assertedUser(credentials: Credentials): UserInfo | undefined {
  const names = headerLines(credentials, 'x-remote-user')
  if (names.length === 0) return undefined
  const [name] = names
  const uids = headerLines(credentials, 'x-remote-uid')
  if (credentials.rawHeaders === undefined || names.length > 1 || !name || uids.length > 1)
    throw unauthorized()
  const extra = assertedExtra(credentials.rawHeaders)
  const [uid] = uids
  return authenticated({
    name,
    groups: headerLines(credentials, 'x-remote-group'),
    ...(uid ? { uid } : {}),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  })
}

function assertedExtra(rawHeaders: readonly string[]): Record<string, readonly string[]> {
  const extra = new Map<string, string[]>()
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? ''
    if (!name.startsWith(extraPrefix)) continue
    const key = decodeKey(name.slice(extraPrefix.length))
    extra.set(key, [...(extra.get(key) ?? []), rawHeaders[i + 1] ?? ''])
  }
  return Object.fromEntries(extra)
}

/** Decoded once; a key that does not decode is a bad credential, because losing part of an identity may raise it. */
function decodeKey(escaped: string): string {
  try {
    return decodeURIComponent(escaped).toLowerCase()
  } catch {
    throw unauthorized()
  }
}
