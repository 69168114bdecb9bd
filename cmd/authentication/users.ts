import { after } from '../../framework/async/awaitable.ts'
import { type BearerTokenReader, type Identity, TokenError, tokenUsers } from '../../framework/authn/index.ts'
import type { Logger } from '../../framework/contract/log.ts'
import { follow } from '../files/follow.ts'
import { readUsers, type StoredUser, usersVersion } from '../files/users.ts'

export interface UserOptions {
  readonly dataDirectory: string
  readonly log: Logger
  /** Ends the polling of the files. */
  readonly signal: AbortSignal
}

interface Versioned {
  readonly version: number
  readonly users: readonly StoredUser[]
}

/**
 * The tokens of the users in the data directory. Within two seconds of a change, added users are accepted and removed ones
 * are rejected, also on open connections. Throws `StartError` for an invalid file.
 */
export async function followUsers({ dataDirectory, log, signal }: UserOptions): Promise<BearerTokenReader> {
  let current = await readVersioned(dataDirectory)
  let read = readerOf(current.users)
  follow<Versioned>({
    what: 'users',
    current,
    read: async () =>
      (await usersVersion(dataDirectory)) === current.version ? current : readVersioned(dataDirectory),
    use: next => {
      current = next
      read = readerOf(next.users)
    },
    log,
    signal,
  })
  return (token, use) => read(token, use)
}

/** The version is read first: a later change is found by the next read. */
async function readVersioned(dataDirectory: string): Promise<Versioned> {
  const version = await usersVersion(dataDirectory)
  return { version, users: await readUsers(dataDirectory) }
}

function readerOf(users: readonly StoredUser[]): BearerTokenReader {
  const expiries = new Map(users.map(({ uid, expires = '9999' }) => [uid, expires]))
  const known = tokenUsers(
    users.map(({ name, uid, groups, sha256: digest }) => ({
      sha256: Buffer.from(digest, 'hex'),
      user: { name, uid, groups },
    })),
  )
  const current = (found: Identity | undefined): Identity | undefined => {
    if (found === undefined) return undefined
    if ((expiries.get(found.user.uid ?? '') ?? '') <= new Date().toISOString())
      throw new TokenError('the token has expired')
    // Not fixed: the user may be removed while a connection is open.
    return { user: found.user }
  }
  return (token, use) => (users.length === 0 ? undefined : after(known(token, use), current))
}
