import { after, attempt } from '../async/awaitable.ts'
import { unauthorized } from '../meta/errors.ts'
import type { ClusterName } from '../meta/object.ts'
import type { Authenticator, Credentials } from '../request/authenticator.ts'
import type { UserInfo } from '../request/user.ts'
import { authenticated } from './authentication.ts'
import { headerLines, webSocketToken } from './headers.ts'
import {
  type BearerTokenReader,
  type Identified,
  sha256,
  type TokenAuthenticator,
  TokenError,
  type TokenUse,
  tokenAuthenticator,
  tokenRefusal,
} from './token.ts'

/** A user with a static token, of which only the SHA-256 is kept. */
export interface TokenUser {
  /** 32 bytes. */
  readonly sha256: Buffer
  readonly user: UserInfo
}

/** Maximum length of a token. */
const longest = 64 * 1024

/** Users by `Authorization: Bearer`, for tokens of the server only. */
export const bearerTokens = (...readers: readonly BearerTokenReader[]): Authenticator =>
  bearers(tokenAuthenticator(readers, ['']))

/**
 * Users by `Authorization: Bearer`, or by a token in the protocols of a WebSocket. An unknown token is rejected
 * (rules.md 9.2).
 */
export function bearers(tokens: TokenAuthenticator): Authenticator {
  // Requests of one connection with the same headers share the object.
  const fixed = new WeakMap<Credentials, UserInfo>()
  const remember = (credentials: Credentials, { user, isFixed }: Identified): UserInfo => {
    if (isFixed) fixed.set(credentials, user)
    return user
  }
  return {
    authenticate(credentials, cluster) {
      const known = fixed.get(credentials)
      if (known !== undefined) return known
      const lines = headerLines(credentials, 'authorization')
      const token = lines.length === 0 ? webSocketToken(credentials) : bearerToken(lines)
      if (token === undefined) return undefined
      return attempt(
        () =>
          after(tokens.identify(token, useOf(credentials, cluster)), found => remember(credentials, found)),
        error => {
          throw error instanceof TokenError ? tokenRefusal(error) : error
        },
      )
    },
  }
}

const useOf = ({ source }: Credentials, cluster: ClusterName | undefined): TokenUse => ({
  ...(cluster !== undefined && { cluster }),
  ...(source !== undefined && { source }),
})

function bearerToken(lines: readonly string[]): string {
  const token = /^ *bearer +([^\s,]+) *$/i.exec(lines.join('\n'))?.[1]
  if (token === undefined || token.length > longest) throw unauthorized('malformed Authorization header')
  return token
}

/** A reader of static tokens. The lookup is by digest: its timing reveals nothing about tokens. */
export function tokenUsers(users: readonly TokenUser[]): BearerTokenReader {
  const identified = users.map(
    ({ sha256, user }) =>
      [sha256.toString('latin1'), { user: authenticated(user), isFixed: true } as const] as const,
  )
  const byDigest = new Map(identified)
  return token => byDigest.get(sha256(token).toString('latin1'))
}

/** A reader of the static token file of Kubernetes: lines of `token,user,uid` or `token,user,uid,"group1,group2"`. */
export const tokenFile = (csv: string): BearerTokenReader => tokenUsers(parseTokenFile(csv))

/** The users of a static token file. Throws with the line number of an invalid line. */
export function parseTokenFile(csv: string): readonly TokenUser[] {
  const seen = new Set<string>()
  return csv.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return []
    const [token = '', name = '', uid = '', groups = ''] = columns(line, index + 1)
    if (token === '' || name === '') throw lineError(index + 1, 'an empty token or user name')
    if (seen.has(token)) throw lineError(index + 1, 'the token of an earlier line')
    seen.add(token)
    const user = { name, groups: groups === '' ? [] : groups.split(','), ...(uid === '' ? {} : { uid }) }
    return [{ sha256: sha256(token), user }]
  })
}

const field = /\s*(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y

function columns(line: string, number: number): readonly string[] {
  const found: string[] = []
  field.lastIndex = 0
  for (let more = true; more; ) {
    const match = field.exec(line)
    if (match === null) throw lineError(number, 'a misplaced quotation mark')
    found.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    more = match[3] === ','
  }
  if (found.length < 3)
    throw lineError(number, `${found.length} of at least 3 columns (token, user name, user uid)`)
  return found
}

const lineError = (number: number, problem: string): Error => new Error(`line ${number} has ${problem}`)
