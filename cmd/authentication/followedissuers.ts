import { readFile } from 'node:fs/promises'
import type { AuthenticationConfig } from '../../framework/authn/jwt/index.ts'
import { type FileWatchEnding, follow } from '../files/follow.ts'
import { type IssuerFlags, readIssuers } from '../flags/issuers.ts'

/** The issuers of tokens, and what the flags say about anonymous requests. */
export interface FollowedIssuers {
  current(): AuthenticationConfig
  /** Reloads `--authentication-config` when it changes. An issuer whose entry is the same keeps its keys. */
  follow(ending: FileWatchEnding): void
}

/** Reads the issuers of the flags; `forbidden` ones are refused. Throws `StartError` with all mistakes. */
export async function openIssuers(
  flags: IssuerFlags,
  forbidden: readonly string[],
): Promise<FollowedIssuers> {
  const { authenticationConfig: path } = flags
  const read = async (): Promise<string> => (path === undefined ? '' : readFile(path, 'utf8'))
  // Read before it is used: a change in between is found by the next read.
  const text = await read().catch(() => '')
  let current = await readIssuers(flags, forbidden)
  const use = async (): Promise<void> => {
    current = await readIssuers(flags, forbidden, current.issuers)
  }
  return {
    current: () => current,
    follow(ending) {
      if (path !== undefined)
        follow({ what: 'file of --authentication-config', current: text, read, use, ...ending })
    },
  }
}
