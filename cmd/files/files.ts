import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { isCertificate, isPair } from '../../framework/authn/pem.ts'
import { codeOf, StartError } from './starterror.ts'

/** The bytes of a file; undefined when it does not exist. Throws `StartError` when it is not readable. */
export async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new StartError(
      `${path} cannot be read (${codeOf(error)}): make it a file that the user of this process may read.`,
    )
  }
}

/** Reads the file of a flag. Throws `StartError` when it is not readable. */
export async function readFlagFile(flag: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new StartError(`${path} cannot be read (${codeOf(error)}): give ${flag} a readable file.`)
  }
}

/** A flag, and the path that it was given. */
export interface FlagFile {
  readonly flag: string
  readonly path: string | undefined
}

/**
 * Reads the PEM files of the flags of a certificate and its private key; undefined without the flags, of which a command has both or
 * none (`flagsBelongTogether`). Throws `StartError` for a file that is not readable, and for files that are no pair.
 */
export async function readFlagPair(
  first: FlagFile,
  second: FlagFile,
): Promise<readonly [cert: string, key: string] | undefined> {
  if (first.path === undefined || second.path === undefined) return undefined
  const [cert, key] = await Promise.all([
    readFlagFile(first.flag, first.path),
    readFlagFile(second.flag, second.path),
  ])
  if (!isCertificate(cert))
    throw new StartError(`${first.path} contains no valid certificate: give ${first.flag} a PEM file.`)
  if (!isPair({ cert, key }))
    throw new StartError(
      `${first.path} and ${second.path} are not a key pair: give ${second.flag} the key of the certificate.`,
    )
  return [cert, key]
}

/**
 * Replaces a file atomically; only its owner may read it. Throws `StartError`, which names the flag with the place of the file, and leaves
 * no part of the new file.
 */
export async function writePrivately(
  path: string,
  content: string | Buffer,
  flag = '--data-directory',
): Promise<void> {
  const unfinished = `${path}.${randomUUID()}`
  try {
    await writeFile(unfinished, content, { mode: 0o600, flush: true })
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw new StartError(
      `${path} cannot be written (${codeOf(error)}): make room on the disk, or choose another ${flag}.`,
    )
  }
}
