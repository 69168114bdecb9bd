import { randomUUID } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { codeOf, StartError } from './starterror.ts'

/** A file's bytes; undefined when there is none. */
export async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** A file that a flag names. */
export async function readFlagFile(flag: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new StartError(`${path} cannot be read (${codeOf(error)}): give ${flag} a readable file.`)
  }
}

/** Writes a file that only its owner may read; a reader sees the old or the new content, never half of it. */
export async function writePrivately(path: string, content: string | Buffer): Promise<void> {
  const unfinished = `${path}.${randomUUID()}`
  await writeFile(unfinished, content, { mode: 0o600 })
  await rename(unfinished, path)
}
