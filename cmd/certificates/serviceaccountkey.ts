import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { type SigningKeys, signingKeys } from '../../framework/authn/index.ts'
import { readFlagFile, readIfThere, writePrivately } from '../files/files.ts'
import { StartError } from '../files/starterror.ts'

/**
 * The keys of service account tokens: those of `--service-account-key-file`, else `sa.key` in the data directory, which is
 * generated at the first start. Throws `StartError` on a file without a private key.
 */
export async function prepareServiceAccountKeys(directory: string, given?: string): Promise<SigningKeys> {
  const path = given ?? join(directory, 'sa.key')
  const pem =
    given === undefined ? await ownKey(path) : await readFlagFile('--service-account-key-file', given)
  try {
    if (!pem.includes('PRIVATE KEY-----')) throw new Error('no private key')
    return signingKeys(pem)
  } catch (error) {
    throw new StartError(
      `${path} has no usable signing key (${(error as Error).message}): give it a private RSA or EC key in PEM format.`,
    )
  }
}

async function ownKey(path: string): Promise<string> {
  const known = await readIfThere(path)
  if (known !== undefined) return known.toString()
  const pem = newServiceAccountKey()
  await writePrivately(path, pem)
  return pem
}

/** A new EC key on the curve P-256, PKCS #8, PEM. */
export const newServiceAccountKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
