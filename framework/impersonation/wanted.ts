import { parseServiceAccount, serviceAccountGroups } from '../authn/accountname.ts'
import { headerLines } from '../authn/headers.ts'
import { badRequest } from '../meta/errors.ts'
import type { Credentials } from '../request/authenticator.ts'
import { anonymous, systemAuthenticated, systemUnauthenticated, type UserInfo } from '../request/user.ts'

type Extra = Readonly<Record<string, readonly string[]>>

/** Whom a request wants to be, as its headers say it. */
export interface Wanted {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: Extra
}

const extraPrefix = 'impersonate-extra-'

/**
 * The identity that `Impersonate-*` headers ask for (rules.md 9.10). Throws 400 unless they name one user: what
 * was meant to be done with fewer rights is never done with all.
 */
export function wantedIdentity(credentials: Credentials): Wanted {
  const wanted = {
    name: onlyLine(credentials, 'impersonate-user'),
    uid: onlyLine(credentials, 'impersonate-uid'),
    groups: headerLines(credentials, 'impersonate-group'),
    extra: extraOf(credentials),
  }
  if (wanted.name === '') throw badRequest(`requested ${inGo(wanted)} without impersonating a user name`)
  return wanted
}

function onlyLine(credentials: Credentials, header: string): string {
  const lines = headerLines(credentials, header)
  if (lines.length > 1) throw badRequest(`the header ${header} is given more than once`)
  return lines[0] ?? ''
}

function extraOf({ rawHeaders = [] }: Credentials): Extra {
  const extra = new Map<string, string[]>()
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const header = rawHeaders[i]?.toLowerCase() ?? ''
    if (!header.startsWith(extraPrefix)) continue
    const key = decoded(header.slice(extraPrefix.length)).toLowerCase()
    extra.set(key, [...(extra.get(key) ?? []), rawHeaders[i + 1] ?? ''])
  }
  return Object.fromEntries(extra)
}

/** A key that does not decode is taken as it is. */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

/** As kcp prints it. */
function inGo({ name, uid, groups, extra }: Wanted): string {
  const list = (texts: readonly string[]): string => `{${texts.map(text => JSON.stringify(text)).join(', ')}}`
  const entries = Object.entries(extra).map(
    ([key, values]) => `${JSON.stringify(key)}:[]string${list(values)}`,
  )
  const groupsText = groups.length === 0 ? '[]string(nil)' : `[]string${list(groups)}`
  const extraText =
    entries.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries.join(', ')}}`
  return `&user.DefaultInfo{Name:${JSON.stringify(name)}, UID:${JSON.stringify(uid)}, Groups:${groupsText}, Extra:${extraText}}`
}

/** The user that comes out, with the groups that go without saying (rules.md 9.12). */
export function impersonatedUser({ name, uid, groups, extra }: Wanted): UserInfo {
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
