import type { Logger } from '../../framework/contract/log.ts'
import type { Server } from '../../framework/server/server.ts'
import { prepareServing, readServing, servingPaths } from './servingfiles.ts'
import { followCertificate, type ServingCertificate } from './suppliedserving.ts'

export interface CertificateWatchOptions {
  readonly directory: string
  /** The certificate in use. */
  readonly current: ServingCertificate
  /** Subject alternative names of renewed certificates. */
  readonly hosts: readonly string[]
  readonly server: Pick<Server, 'useCertificate'>
  readonly log: Logger
  /** Ends the polling of the files. */
  readonly signal: AbortSignal
}

const day = 24 * 60 * 60 * 1000

/** Reloads the serving certificate of a data directory when its files change, and renews it before it expires. */
export function watchCertificate(options: CertificateWatchOptions): void {
  const { directory, hosts, current, server, log, signal } = options
  const read = async (): Promise<ServingCertificate> => {
    const files = await readServing(directory)
    if (files === undefined) throw new Error(`${directory} has no serving certificate`)
    return { cert: files.certificate, key: files.key }
  }
  followCertificate({ current, read, file: servingPaths(directory).certificate, server, log, signal })
  const renewal = setInterval(() => {
    prepareServing(directory, hosts).catch(error =>
      log.error({ error: String(error) }, 'certificate renewal failed'),
    )
  }, day).unref()
  signal.addEventListener('abort', () => clearInterval(renewal))
}
