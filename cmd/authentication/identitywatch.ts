import { watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Logger } from '../../framework/contract/log.ts'
import type { Server } from '../../framework/server/server.ts'
import { allAuthorities } from '../certificates/authorities.ts'
import type { AuthenticationFlags } from '../flags/authentication.ts'
import type { PreparedAuthentication } from './authentication.ts'

export interface IdentityWatchOptions {
  readonly options: AuthenticationFlags
  readonly authentication: Pick<PreparedAuthentication, 'reload' | 'authorities'>
  readonly server: Pick<Server, 'useCertificate'>
  readonly log: Logger
  /** Ends the watch. */
  readonly signal: AbortSignal
}

/** Milliseconds to wait after a change: files are written in several steps. */
const settle = 200

/** Reloads certificate authorities and issuers when their files change. */
export function watchIdentities(watching: IdentityWatchOptions): void {
  const { options, signal } = watching
  const files = [options.clientCaFile, options.requestheaderClientCaFile, options.authenticationConfig]
  let timer: NodeJS.Timeout | undefined
  for (const file of files) {
    if (file === undefined) continue
    watch(dirname(file), { signal, persistent: false }, (_event, name) => {
      // In volumes of Kubernetes, the link `..data` is replaced instead of the file.
      if (name !== basename(file) && name !== '..data') return
      clearTimeout(timer)
      timer = setTimeout(() => void reload(watching), settle).unref()
    })
  }
}

async function reload({ authentication, server, log }: IdentityWatchOptions): Promise<void> {
  try {
    await authentication.reload()
    const clientCA = allAuthorities(authentication.authorities())
    if (clientCA !== undefined) server.useCertificate({ clientCA })
    log.info({}, 'authentication configuration reloaded')
  } catch (error) {
    log.warn({ error: String(error) }, 'invalid authentication configuration: the previous one is still used')
  }
}
