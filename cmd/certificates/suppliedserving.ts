import { expiryOf, whenPassed } from '../../framework/async/expiry.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { TlsOptions } from '../../framework/server/listener.ts'
import type { Server } from '../../framework/server/server.ts'
import { readFlagPair } from '../files/files.ts'
import { follow } from '../files/follow.ts'

/** A serving certificate and its private key, PEM. */
export type ServingCertificate = Pick<TlsOptions, 'cert' | 'key'>

/** The files of a serving certificate that an operator or cert-manager supplies. */
export interface SuppliedFiles {
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
}

/** The certificate of `--tls-cert-file`; undefined without the flag. Throws `StartError` on invalid files. */
export async function readSupplied(flags: SuppliedFiles): Promise<ServingCertificate | undefined> {
  const pair = await readFlagPair(
    { flag: '--tls-cert-file', path: flags.tlsCertFile },
    { flag: '--tls-private-key-file', path: flags.tlsPrivateKeyFile },
  )
  if (pair === undefined) return undefined
  const [cert, key] = pair
  return { cert, key }
}

export interface CertificateFollowing {
  /** The certificate in use. */
  readonly current: ServingCertificate
  readonly read: () => Promise<ServingCertificate>
  /** The file that is named when the certificate has expired. */
  readonly file: string | undefined
  readonly server: Pick<Server, 'useCertificate'>
  readonly log: Logger
  /** Ends the polling. */
  readonly signal: AbortSignal
}

/** Reloads the serving certificate when its files change, and logs its expiry. */
export function followCertificate(following: CertificateFollowing): void {
  const { current, read, file, server, log, signal } = following
  let served = current
  const note = (next: ServingCertificate): void => {
    served = next
    whenPassed(expiryOf(next.cert), () => {
      if (served === next) log.error({}, `the serving certificate has expired: renew ${file}`)
    })
  }
  note(current)
  const use = (next: ServingCertificate): void => {
    server.useCertificate(next)
    note(next)
  }
  const what = `serving certificate${file === undefined ? '' : ` ${file}`}`
  follow({ what, current, read, use, log, signal })
}
