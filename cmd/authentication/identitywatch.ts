import { readFile } from 'node:fs/promises'
import type { Logger } from '../../framework/contract/log.ts'
import type { Server } from '../../framework/server/server.ts'
import { allAuthorities } from '../certificates/authorities.ts'
import { follow } from '../files/follow.ts'
import type { AuthenticationFlags } from '../flags/authentication.ts'
import type { PreparedAuthentication } from './authentication.ts'

export interface IdentityWatchOptions {
  readonly options: AuthenticationFlags
  readonly authentication: Pick<PreparedAuthentication, 'reload' | 'authorities'>
  readonly server: Pick<Server, 'useCertificate'>
  readonly log: Logger
  /** Ends the polling of the files. */
  readonly signal: AbortSignal
}

/** Reloads certificate authorities and issuers when their files change. Resolves when later changes are seen. */
export async function watchIdentities(watching: IdentityWatchOptions): Promise<void> {
  const { options, authentication, server, log, signal } = watching
  const given = [options.clientCaFile, options.requestheaderClientCaFile, options.authenticationConfig]
  const files = given.filter(file => file !== undefined)
  if (files.length === 0) return
  const read = (): Promise<readonly string[]> => Promise.all(files.map(file => readFile(file, 'utf8')))
  const use = async (): Promise<void> => {
    await authentication.reload()
    const clientCA = allAuthorities(authentication.authorities())
    if (clientCA !== undefined) server.useCertificate({ clientCA })
  }
  follow({ what: 'authentication configuration', current: await read(), read, use, log, signal })
}
