import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { ItemList, ListMeta } from '../contract/storage.ts'
import { invalidContinueToken } from '../meta/continuetoken.ts'
import { expired, StatusError } from '../meta/errors.ts'

const algorithm = 'aes-256-gcm'
const [nonceLength, tagLength] = [12, 16]
const headLength = nonceLength + tagLength

/**
 * Encrypts continue tokens with a key of this process: they contain the key of an object, which a view may hide
 * (AES-256-GCM, NIST SP 800-38D). `about`: what a token is valid for.
 */
export class TokenSeal {
  readonly #key = randomBytes(32)

  seal(token: string, about = ''): string {
    const nonce = randomBytes(nonceLength)
    const cipher = createCipheriv(algorithm, this.#key, nonce).setAAD(Buffer.from(about))
    const sealed = Buffer.concat([cipher.update(token), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
  }

  /** undefined for tokens of another process, and for those about something else. */
  open(sealed: string, about = ''): string | undefined {
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

const seal = new TokenSeal()

/** Throws 410 for tokens that this process did not make, and 400 for texts that are none. */
function open(token: string): string {
  if (Buffer.from(token, 'base64url').length <= headLength) throw invalidContinueToken('it cannot be decoded')
  const found = seal.open(token)
  if (found !== undefined) return found
  throw expired('The provided continue parameter is too old to display a consistent list result.')
}

/** The query with the token of the storage below. Throws 410 for foreign tokens. */
export const opened = <Q extends { readonly continue?: string }>(query: Q): Q =>
  query.continue === undefined || query.continue === '' ? query : { ...query, continue: open(query.continue) }

/** The metadata of a list of which objects may be hidden: with a sealed token, and without the count of the others. */
export function sealedMeta({ remainingItemCount: _, continue: token, ...meta }: ListMeta): ListMeta {
  return token === undefined ? meta : { ...meta, continue: seal.seal(token) }
}

/** The list, whose token and whose errors do not show hidden objects. */
export async function* sealedList(list: ItemList): ItemList {
  try {
    return sealedMeta(yield* list)
  } catch (error) {
    throw sealedError(error)
  }
}

/** 410 for an old token has a token for the rest of the list (rules.md 4.21). */
function sealedError(error: unknown): unknown {
  if (!(error instanceof StatusError)) return error
  const { continue: token } = error.status.metadata
  return token === undefined ? error : expired(error.message, seal.seal(token))
}
