import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { ItemList, ListMeta } from '../contract/storage.ts'
import { badRequest, expired, StatusError } from '../meta/errors.ts'

/** Bytes of nonce and authentication tag. */
const headLength = 28

/** Continue tokens contain the key of an object, which a view may hide: they are encrypted (AES-256-GCM, NIST SP 800-38D). */
class Seal {
  /** A token of another process is refused, and clients list again. */
  readonly #key = randomBytes(32)

  seal(token: string): string {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce)
    const sealed = Buffer.concat([cipher.update(token), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
  }

  /** Throws 410 for tokens that this process did not make, and 400 for texts that are none. */
  open(token: string): string {
    const bytes = Buffer.from(token, 'base64url')
    if (bytes.length <= headLength)
      throw badRequest('invalid continue token: continue key is not valid: it cannot be decoded')
    try {
      const cipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, 12))
      cipher.setAuthTag(bytes.subarray(12, headLength))
      return cipher.update(bytes.subarray(headLength)).toString() + cipher.final().toString()
    } catch {
      throw expired('The provided continue parameter is too old to display a consistent list result.')
    }
  }
}

const seal = new Seal()

/** The query with the token of the storage below. Throws 410 for foreign tokens. */
export const opened = <Q extends { readonly continue?: string }>(query: Q): Q =>
  query.continue === undefined || query.continue === ''
    ? query
    : { ...query, continue: seal.open(query.continue) }

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
