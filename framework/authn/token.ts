import { hash } from 'node:crypto'
import { type Awaitable, after, attempt } from '../async/awaitable.ts'
import { type StatusError, unauthorized } from '../meta/errors.ts'
import type { ClusterName } from '../meta/object.ts'
import type { UserInfo } from '../request/user.ts'

/** The use of a token. */
export interface TokenUse {
  /** The logical cluster of the request; absent for none or all. */
  readonly cluster?: ClusterName
  /** Accepted audiences; absent: those of the server. */
  readonly audiences?: readonly string[]
  /** Who sent the token, to count reviews at other servers: the address of a client, or the account that asks for a review. */
  readonly source?: string
}

/** The user of a token. */
export interface Identity {
  readonly user: UserInfo
  /** The audiences in the token; absent: those of the server. */
  readonly audiences?: readonly string[]
  /** The token is valid in all clusters until the server stops. */
  readonly isFixed?: true
}

export type Identified = Identity & Required<Pick<Identity, 'audiences'>>

/** Finds the user of a bearer token. undefined: a token of another kind. Throws `TokenError` for an invalid token. */
export type BearerTokenReader = (token: string, use: TokenUse) => Awaitable<Identity | undefined>

/** A token is rejected. The message may be logged, and shown in a TokenReview. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
  /** The token may be valid: a server that knows it did not answer. */
  readonly isUnchecked: boolean
  constructor(message?: string, isUnchecked = false) {
    super(message)
    this.isUnchecked = isUnchecked
  }
}

/** 401 for a token; its message is logged and not sent. */
export const tokenRefusal = ({ message, isUnchecked }: TokenError): StatusError =>
  Object.assign(unauthorized(message), isUnchecked && { isUnchecked })

/** Whether an error does not mean that the credential is invalid. */
export const isUnchecked = (error: StatusError): boolean => 'isUnchecked' in error

/** Asks all readers in order: a token that one of them rejects may be valid for another. */
export interface TokenAuthenticator {
  /** The user, and the requested audiences that the token has. Throws `TokenError`. */
  identify(token: string, use: TokenUse): Awaitable<Identified>
}

/** `own`: the audiences of the server. */
export function tokenAuthenticator(
  readers: readonly BearerTokenReader[],
  own: readonly string[],
): TokenAuthenticator {
  return {
    identify(token, use) {
      const wanted = new Set(use.audiences?.length ? use.audiences : own)
      const problems = ['invalid bearer token']
      let isUnchecked = false
      const note = (error: unknown): undefined => {
        problems.push(problemOf(error))
        isUnchecked ||= (error as TokenError).isUnchecked
      }
      const ask = (at: number): Awaitable<Identified> => {
        const read = readers[at]
        if (read === undefined)
          throw new TokenError(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`, isUnchecked)
        return after(
          attempt(() => read(token, use), note),
          found => {
            const audiences = (found?.audiences ?? own).filter(audience => wanted.has(audience))
            if (found !== undefined && audiences.length > 0) return { ...found, audiences }
            if (found?.audiences !== undefined) problems.push(wrongAudience(found.audiences, [...wanted]))
            return ask(at + 1)
          },
        )
      }
      return ask(0)
    },
  }
}

/** The message of a `TokenError`; other errors are thrown. */
function problemOf(error: unknown): string {
  if (error instanceof TokenError) return error.message
  throw error
}

const wrongAudience = (audiences: readonly string[], wanted: readonly string[]): string =>
  `token audiences ${quoted(audiences)} is invalid for the target audiences ${quoted(wanted)}`

const quoted = (texts: readonly string[]): string => `[${texts.map(text => JSON.stringify(text)).join(' ')}]`

/** 32 bytes. */
export const sha256 = (data: string | Buffer): Buffer => hash('sha256', data, 'buffer')
