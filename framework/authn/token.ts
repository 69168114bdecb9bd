import { type Awaitable, after, attempt } from '../async/awaitable.ts'
import type { ClusterName } from '../meta/object.ts'
import type { UserInfo } from '../request/user.ts'

/** What a token is presented for. */
export interface TokenUse {
  /** The logical cluster of the request; absent where it has none, or all of them. */
  readonly cluster?: ClusterName
  /** For whom the token must be, of which one is enough; absent: for the server itself. */
  readonly audiences?: readonly string[]
}

/** Whose a token is. */
export interface Identity {
  readonly user: UserInfo
  /** For whom the token is, as it says itself; absent: for the server. */
  readonly audiences?: readonly string[]
  /** It is his for as long as the server runs, everywhere. */
  readonly isFixed?: true
}

export type Identified = Identity & Required<Pick<Identity, 'audiences'>>

/** Finds the user of a bearer token. undefined: not a token of this kind; throws `TokenError` when it is, and is bad. */
export type TokenReader = (token: string, use: TokenUse) => Awaitable<Identity | undefined>

/** Why a token is not believed, in words that may be logged and shown to who reviews it. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
}

/** Asks all readers in order: a token that one of them cannot use may be another one's. */
export interface TokenAuthenticator {
  /** The user, and those of the audiences asked for that the token is for. Throws `TokenError`. */
  identify(token: string, use: TokenUse): Awaitable<Identified>
}

/** `own`: the audiences that mean the server itself. */
export function tokenAuthenticator(
  readers: readonly TokenReader[],
  own: readonly string[],
): TokenAuthenticator {
  return {
    identify(token, use) {
      const wanted = use.audiences?.length ? use.audiences : own
      const problems = ['invalid bearer token']
      const note = (error: unknown): undefined => void problems.push(problemOf(error))
      const ask = (at: number): Awaitable<Identified> => {
        const read = readers[at]
        if (read === undefined)
          throw new TokenError(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`)
        return after(
          attempt(() => read(token, use), note),
          found => {
            const audiences = (found?.audiences ?? own).filter(audience => wanted.includes(audience))
            if (found !== undefined && audiences.length > 0) return { ...found, audiences }
            if (found?.audiences !== undefined) problems.push(wrongAudience(found.audiences, wanted))
            return ask(at + 1)
          },
        )
      }
      return ask(0)
    },
  }
}

/** What is wrong with a token is told in the end; what else goes wrong is thrown. */
function problemOf(error: unknown): string {
  if (error instanceof TokenError) return error.message
  throw error
}

const wrongAudience = (audiences: readonly string[], wanted: readonly string[]): string =>
  `token audiences ${quoted(audiences)} is invalid for the target audiences ${quoted(wanted)}`

const quoted = (texts: readonly string[]): string => `[${texts.map(text => JSON.stringify(text)).join(' ')}]`
