import { anonymous, systemAuthenticated, type UserInfo } from '../request/user.ts'

/** The user as authentication hands it on: frozen, and in `system:authenticated` unless anonymous (chapter 40, rule 9.4). */
export function authenticated(user: UserInfo): UserInfo {
  const { name, groups } = user
  const known = name === anonymous.name || groups.includes(systemAuthenticated)
  return Object.freeze({ ...user, groups: Object.freeze(known ? groups : [...groups, systemAuthenticated]) })
}
