import { timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../framework/authn/index.ts'
import { unauthorized } from '../../framework/meta/errors.ts'
import type { Authenticator, Credentials } from '../../framework/request/authenticator.ts'
import type { UserInfo } from '../../framework/request/user.ts'

/** The header with the user of a request, as JSON in base64url: names may have any characters. */
const userHeader = 'x-oriel-user'

/** Whether a header, in lower case, has an identity: clients cannot send it, and views do not get it. */
export const isPrivateHeader = (name: string): boolean => name.replaceAll('_', '-') === userHeader

/** The headers by which the process of an isolated view knows the user. */
export const identityHeaders = (secret: string, user: UserInfo): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${secret}`,
  [userHeader]: Buffer.from(JSON.stringify(user)).toString('base64url'),
})

/** The impersonation headers of a client, with one value for each line. */
export function impersonationHeaders({ rawHeaders = [] }: Credentials): Record<string, string[]> {
  const found: Record<string, string[]> = {}
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? ''
    if (name.startsWith('impersonate-')) found[name] = [...(found[name] ?? []), rawHeaders[i + 1] ?? '']
  }
  return found
}

/** Accepts requests of the server that started this process, which knows the secret; the user is in a header. */
export function privateAuthenticator(secret: string): Authenticator {
  const wanted = sha256(`Bearer ${secret}`)
  const known = new WeakMap<Credentials, UserInfo>()
  const read = ({ headers }: Credentials): UserInfo => {
    const { authorization = '', [userHeader]: user } = headers
    if (!timingSafeEqual(sha256(authorization), wanted) || typeof user !== 'string') throw unauthorized()
    return frozen(JSON.parse(Buffer.from(user, 'base64url').toString())) as UserInfo
  }
  return {
    authenticate: credentials => {
      const user = known.get(credentials) ?? read(credentials)
      known.set(credentials, user)
      return user
    },
  }
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}
