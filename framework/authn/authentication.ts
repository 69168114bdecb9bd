import { type Awaitable, after } from '../async/awaitable.ts'
import type { Authenticator } from '../request/authenticator.ts'
import { anonymous, systemAuthenticated, type UserInfo } from '../request/user.ts'

/**
 * Asks all authenticators and returns the first user. All credentials must be valid: an invalid token with a valid
 * certificate is rejected (`union.NewFailOnError`; rules.md 9.2). undefined: no credentials.
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

/** The user after authentication: frozen, and in the group `system:authenticated` unless anonymous (rules.md 9.4). */
export function authenticated(user: UserInfo): UserInfo {
  const { name, groups } = user
  const known = name === anonymous.name || groups.includes(systemAuthenticated)
  return Object.freeze({ ...user, groups: Object.freeze(known ? groups : [...groups, systemAuthenticated]) })
}
