import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { RequestContext, TokenCipher } from '../contract/context.ts'
import type { ItemList, ListMeta } from '../contract/storage.ts'
import { invalidContinueToken } from '../meta/continuetoken.ts'
import { expired, StatusError } from '../meta/errors.ts'

const algorithm = 'aes-256-gcm'
const [nonceLength, tagLength] = [12, 16]
const headLength = nonceLength + tagLength

const keyLength = 32

/**
 * Encrypts continue tokens: they contain the key of an object, which a view may hide (AES-256-GCM, NIST SP 800-38D).
 * Servers with the same secret accept each other's tokens.
 */
export class TokenSeal implements TokenCipher {
  readonly #key: Buffer

  /** Without a secret: with a random key. */
  constructor(secret?: Buffer) {
    this.#key =
      secret === undefined
        ? randomBytes(keyLength)
        : Buffer.from(hkdfSync('sha256', secret, '', 'continue tokens', keyLength))
  }

  seal(token: string, about: string): string {
    const nonce = randomBytes(nonceLength)
    const cipher = createCipheriv(algorithm, this.#key, nonce).setAAD(Buffer.from(about))
    const sealed = Buffer.concat([cipher.update(token), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
  }

  open(sealed: string, about: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url')
    const tag = bytes.subarray(nonceLength, headLength)
    try {
      const nonce = bytes.subarray(0, nonceLength)
      const cipher = createDecipheriv(algorithm, this.#key, nonce, { authTagLength: tagLength })
      cipher.setAAD(Buffer.from(about)).setAuthTag(tag)
      return Buffer.concat([cipher.update(bytes.subarray(headLength)), cipher.final()]).toString()
    } catch {
      return undefined
    }
  }
}

const ownTokens: TokenCipher = new TokenSeal()

/** The cipher of the server; for requests inside the process, a random key. */
export const tokensOf = ({ tokens = ownTokens }: Pick<RequestContext, 'tokens'>): TokenCipher => tokens

/** What tokens of lists through lenses are valid for. */
const lists = 'lists'

/** Throws 410 for tokens of another key, and 400 for texts that are none. */
function open(tokens: TokenCipher, token: string): string {
  if (Buffer.from(token, 'base64url').length <= headLength) throw invalidContinueToken('it cannot be decoded')
  const found = tokens.open(token, lists)
  if (found !== undefined) return found
  throw expired('The provided continue parameter is too old to display a consistent list result.')
}

type Continued = { readonly continue?: string }

/** The query with the token of the storage below. Throws 410 for foreign tokens. */
export const opened = <Q extends Continued>(tokens: TokenCipher, query: Q): Q =>
  query.continue === undefined || query.continue === ''
    ? query
    : { ...query, continue: open(tokens, query.continue) }

/** The metadata of a list of which objects may be hidden: with a sealed token, and without the count of the others. */
function sealedMeta(
  tokens: TokenCipher,
  { remainingItemCount: _, continue: token, ...meta }: ListMeta,
): ListMeta {
  return token === undefined ? meta : { ...meta, continue: tokens.seal(token, lists) }
}

/** The list, whose token and whose errors do not show hidden objects. */
export async function* sealedList(tokens: TokenCipher, list: ItemList): ItemList {
  try {
    return sealedMeta(tokens, yield* list)
  } catch (error) {
    throw sealedError(tokens, error)
  }
}

/** 410 for an old token has a token for the rest of the list (rules.md 4.21). */
function sealedError(tokens: TokenCipher, error: unknown): unknown {
  if (!(error instanceof StatusError)) return error
  const { continue: token } = error.status.metadata
  return token === undefined ? error : expired(error.message, tokens.seal(token, lists))
}
