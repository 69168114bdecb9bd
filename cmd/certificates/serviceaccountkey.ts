import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { type SigningKeys, signingKeys } from '../../framework/authn/index.ts'
import { readFlagFile, readIfThere, writePrivately } from '../files/files.ts'
import { StartError } from '../files/starterror.ts'

/** The files of flags with keys of service account tokens. */
export interface AccountKeyFiles {
  readonly serviceAccountKeyFile?: string
  readonly serviceAccountSigningKeyFile?: string
  readonly serviceAccountPrivateKeyFile?: string
}

/**
 * The keys of service account tokens: those of the flags, else `sa.key` in the data directory, which is generated at the first
 * start. The first private key signs, and all keys verify. Throws `StartError` on files without a usable key.
 */
export async function prepareServiceAccountKeys(
  directory: string,
  flags: AccountKeyFiles = {},
): Promise<SigningKeys> {
  const signing = signingFile(flags)
  const path = signing?.path ?? join(directory, 'sa.key')
  const pem = signing === undefined ? await ownKey(path) : await readFlagFile(signing.flag, signing.path)
  if (!pem.includes('PRIVATE KEY-----')) throw unusable(path, 'no private key')
  return keysOf([{ path, pem }, ...(await verifying(flags, path))])
}

/** The file with the private key that signs, and its flag; undefined where it is in the data directory. */
export function signingFile(
  flags: AccountKeyFiles,
): { readonly flag: string; readonly path: string } | undefined {
  const { serviceAccountSigningKeyFile, serviceAccountPrivateKeyFile, serviceAccountKeyFile } = flags
  const files = [
    ['--service-account-signing-key-file', serviceAccountSigningKeyFile],
    ['--service-account-private-key-file', serviceAccountPrivateKeyFile],
    ['--service-account-key-file', serviceAccountKeyFile],
  ] as const
  const [found] = files.flatMap(([flag, path]) => (path === undefined ? [] : [{ flag, path }]))
  return found
}

interface KeyFile {
  readonly path: string
  readonly pem: string
}

/** The other files of the flags, whose keys only verify. */
async function verifying(flags: AccountKeyFiles, signing: string): Promise<readonly KeyFile[]> {
  const { serviceAccountKeyFile, serviceAccountPrivateKeyFile } = flags
  const files = [
    ['--service-account-key-file', serviceAccountKeyFile],
    ['--service-account-private-key-file', serviceAccountPrivateKeyFile],
  ] as const
  const read = files.flatMap(([flag, path]) =>
    path === undefined || path === signing
      ? []
      : [readFlagFile(flag, path).then((pem): KeyFile => ({ path, pem }))],
  )
  return Promise.all(read)
}

function keysOf(files: readonly KeyFile[]): SigningKeys {
  for (const { path, pem } of files)
    try {
      signingKeys(pem)
    } catch (error) {
      throw unusable(path, (error as Error).message)
    }
  return signingKeys(files.map(({ pem }) => pem).join('\n'))
}

const unusable = (path: string, problem: string): StartError =>
  new StartError(
    `${path} has no usable signing key (${problem}): give it a private RSA or EC key in PEM format.`,
  )

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
