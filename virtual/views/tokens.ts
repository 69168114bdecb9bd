import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { expired } from '../../framework/index.ts'

const algorithm = 'aes-256-gcm'
const [ivLength, tagLength] = [12, 16]

/**
 * Encrypts continue tokens, which have the key of an object that may be hidden. The tokens of another process, or of
 * another state of the View, are 410, and clients list again.
 */
export class ContinueTokens {
  readonly #key = randomBytes(32)

  /** `about`: what the token is valid for. */
  seal(token: string, about: string): string {
    const iv = randomBytes(ivLength)
    const cipher = createCipheriv(algorithm, this.#key, iv).setAAD(Buffer.from(about))
    const sealed = Buffer.concat([cipher.update(token, 'utf8'), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
  }

  /** Throws 410. */
  open(sealed: string, about: string): string {
    try {
      const bytes = Buffer.from(sealed, 'base64url')
      const tag = bytes.subarray(ivLength, ivLength + tagLength)
      const decipher = createDecipheriv(algorithm, this.#key, bytes.subarray(0, ivLength), {
        authTagLength: tagLength,
      })
      decipher.setAAD(Buffer.from(about)).setAuthTag(tag)
      const text = decipher.update(bytes.subarray(ivLength + tagLength))
      return Buffer.concat([text, decipher.final()]).toString('utf8')
    } catch {
      throw expired(
        'The provided continue parameter is too old: the View or the server has changed. Start the list again.',
      )
    }
  }
}
