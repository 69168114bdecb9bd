import { type Awaitable, after } from '../async/awaitable.ts'
import type { Authenticator } from '../request/authenticator.ts'
import { anonymous, systemAuthenticated, type UserInfo } from '../request/user.ts'

/**
 * Asks every authenticator and returns the first user that was found. Whatever was presented must be good: a bad
 * token beside a good certificate is refused, never ignored (rules.md 9.2). undefined: nothing was presented.
 */
export function union(...authenticators: readonly Authenticator[]): Authenticator {
  return {
    authenticate(credentials, cluster) {
      let first: Awaitable<UserInfo | undefined>
      for (const authenticator of authenticators)
        first = after(first, user =>
          after(authenticator.authenticate(credentials, cluster), found => user ?? found),
        )
      return first
    },
  }
}

/** The user as authentication hands it on: frozen, and in `system:authenticated` unless anonymous (rules.md 9.4). */
export function authenticated(user: UserInfo): UserInfo {
  const { name, groups } = user
  const known = name === anonymous.name || groups.includes(systemAuthenticated)
  return Object.freeze({ ...user, groups: Object.freeze(known ? groups : [...groups, systemAuthenticated]) })
}
