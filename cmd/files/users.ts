import { randomUUID } from 'node:crypto'
import { link, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readIfThere, writePrivately } from './files.ts'
import { codeOf, StartError } from './starterror.ts'

/** A user whose token the data directory has. */
export interface StoredUser {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  /** Of the token, hexadecimal: the token itself is in the kubeconfig of the user only. */
  readonly sha256: string
  /** RFC 3339; absent: never. */
  readonly expires?: string
}

const directoryIn = (dataDirectory: string): string => join(dataDirectory, 'users')

/** One file for each user, so that two commands at the same time do not overwrite each other's changes. */
const fileOf = (directory: string, name: string): string =>
  join(directory, `${encodeURIComponent(name)}.json`)

/** Adds a user; false when there is one of that name. Throws `StartError` for a directory that cannot be written. */
export async function addUser(dataDirectory: string, user: StoredUser): Promise<boolean> {
  const directory = directoryIn(dataDirectory)
  await mkdir(directory, { mode: 0o700 }).catch(error => {
    if (codeOf(error) !== 'EEXIST')
      throw new StartError(
        `${directory} cannot be written (${codeOf(error)}): choose another --data-directory.`,
      )
  })
  const complete = join(directory, `.${randomUUID()}`)
  await writePrivately(complete, JSON.stringify(user))
  try {
    // Unlike a rename, a link fails when the name is taken.
    await link(complete, fileOf(directory, user.name))
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(complete, { force: true })
  }
}

/** Removes a user; false when there is none of that name. Throws `StartError` for a directory that cannot be written. */
export async function removeUser(dataDirectory: string, name: string): Promise<boolean> {
  const file = fileOf(directoryIn(dataDirectory), name)
  try {
    await rm(file)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw new StartError(
      `${file} cannot be removed (${codeOf(error)}): run the command as the user that the files belong to.`,
    )
  }
}

/** The users, sorted by name. Throws `StartError` for a file that is not readable, or not one of a user. */
export async function readUsers(dataDirectory: string): Promise<readonly StoredUser[]> {
  const directory = directoryIn(dataDirectory)
  const names = await readdir(directory).catch(error => {
    if (codeOf(error) === 'ENOENT') return []
    throw new StartError(
      `${directory} cannot be read (${codeOf(error)}): make it a directory that the user of this process may read.`,
    )
  })
  const files = names.filter(name => name.endsWith('.json')).map(name => join(directory, name))
  const users = await Promise.all(files.map(readUser))
  return users.filter(user => user !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** undefined: the user was removed meanwhile. */
async function readUser(file: string): Promise<StoredUser | undefined> {
  const bytes = await readIfThere(file)
  if (bytes === undefined) return undefined
  try {
    return JSON.parse(bytes.toString()) as StoredUser
  } catch {
    throw new StartError(
      `${file} is not the file of a user: remove it, and add the user with oriel user add.`,
    )
  }
}

/** A number that changes when users are added or removed. */
export const usersVersion = async (dataDirectory: string): Promise<number> =>
  (await stat(directoryIn(dataDirectory)).catch(() => undefined))?.mtimeMs ?? 0
