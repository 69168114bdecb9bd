import { parseServiceAccount, serviceAccountGroups } from '../authn/accountname.ts'
import { identityLines, identityOn } from '../authn/headers.ts'
import { isMembers } from '../json/values.ts'
import { badRequest } from '../meta/errors.ts'
import type { Credentials } from '../request/authenticator.ts'
import { anonymous, systemAuthenticated, systemUnauthenticated, type UserInfo } from '../request/user.ts'

type Extra = Readonly<Record<string, readonly string[]>>

/** The identity that the headers of a request name. */
export interface RequestedIdentity {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Extra
}

const extraPrefix = 'impersonate-extra-'

/**
 * The identity in the `Impersonate-*` headers (rules.md 9.10). Throws 400 unless they name one user: the request must
 * not run with the rights of its sender.
 */
export function requestedIdentity(credentials: Credentials): RequestedIdentity {
  const requested = {
    name: onlyLine(credentials, 'impersonate-user'),
    uid: onlyLine(credentials, 'impersonate-uid'),
    groups: identityLines(credentials, 'impersonate-group'),
    extra: extraOf(credentials),
  }
  if (requested.name === '')
    throw badRequest(`requested ${inGo(requested)} without impersonating a user name`)
  return requested
}

function onlyLine(credentials: Credentials, header: string): string {
  const lines = identityLines(credentials, header)
  if (lines.length > 1) throw badRequest(`the header ${header} must be set once`)
  return lines[0] ?? ''
}

function extraOf({ rawHeaders = [] }: Credentials): Extra {
  const extra = new Map<string, string[]>()
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const header = rawHeaders[i]?.toLowerCase() ?? ''
    if (!header.startsWith(extraPrefix)) continue
    const key = decoded(header.slice(extraPrefix.length)).toLowerCase()
    extra.set(key, [...(extra.get(key) ?? []), identityOn(rawHeaders[i + 1] ?? '')])
  }
  return Object.fromEntries(extra)
}

/** A key that does not decode is used as it is. */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

/** The identity as kcp prints it. */
function inGo({ name, uid, groups, extra }: RequestedIdentity): string {
  const list = (texts: readonly string[]): string => `{${texts.map(text => JSON.stringify(text)).join(', ')}}`
  const entries = Object.entries(extra).map(
    ([key, values]) => `${JSON.stringify(key)}:[]string${list(values)}`,
  )
  const groupsText = groups.length === 0 ? '[]string(nil)' : `[]string${list(groups)}`
  const extraText =
    entries.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries.join(', ')}}`
  return `&user.DefaultInfo{Name:${JSON.stringify(name)}, UID:${JSON.stringify(uid)}, Groups:${groupsText}, Extra:${extraText}}`
}

/** The impersonated user with its implied groups (rules.md 9.12). */
export function impersonatedUser({ name, uid, groups, extra }: RequestedIdentity): UserInfo {
  const account = parseServiceAccount(name)
  const given =
    groups.length === 0 && account !== undefined ? serviceAccountGroups(account.namespace) : groups
  return {
    name,
    groups: [...given, ...impliedGroups(name, given)],
    ...(uid === '' ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}

function impliedGroups(name: string, given: readonly string[]): readonly string[] {
  if (given.includes(systemUnauthenticated)) return []
  if (name === anonymous.name) return [systemUnauthenticated]
  return given.includes(systemAuthenticated) ? [] : [systemAuthenticated]
}

/**
 * A user as the value of a warrant (kcp `pkg/authorization`, `Warrant`): an additional identity, whose rights are added
 * to those of the user.
 */
export const printWarrant = ({ name, groups, uid, extra }: UserInfo): string =>
  JSON.stringify({
    ...(name === '' ? {} : { user: name }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra ?? {}).length === 0 ? {} : { extra }),
    ...(uid ? { uid } : {}),
  })

/** undefined if a field is invalid, as in kcp. */
export function parseWarrant(value: string): UserInfo | undefined {
  const warrant = jsonIn(value)
  if (!isMembers(warrant)) return undefined
  const { user: name = '', uid = '', groups, extra } = warrant
  const known = groups ?? []
  const more = extra ?? {}
  if (typeof name !== 'string' || typeof uid !== 'string' || !isTexts(known) || !isExtra(more))
    return undefined
  return { name, uid, groups: known, extra: more }
}

function jsonIn(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(entry => typeof entry === 'string')
const isExtra = (value: unknown): value is NonNullable<UserInfo['extra']> =>
  isMembers(value) && Object.values(value).every(isTexts)
