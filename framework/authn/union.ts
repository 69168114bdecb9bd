import type { Authenticator } from '../authenticator.ts'
import type { UserInfo } from '../user.ts'

/**
 * Asks every authenticator and returns the first user that was found. Whatever was presented must be good: a bad
 * token beside a good certificate is refused, never ignored (chapter 40, rule 9.2). undefined: nothing was presented.
 */
export function union(...authenticators: readonly Authenticator[]): Authenticator {
  return {
    authenticate: async (credentials, cluster) => {
      let user: UserInfo | undefined
      for (const authenticator of authenticators) {
        const found = await authenticator.authenticate(credentials, cluster)
        user ??= found
      }
      return user
    },
  }
}
