import { mkdir } from 'node:fs/promises'
import { expiryOf, whenPassed } from '../../framework/async/expiry.ts'
import type { TlsOptions } from '../../framework/server/listener.ts'
import type { Server } from '../../framework/server/server.ts'
import { prepareServing } from '../certificates/servingfiles.ts'
import { readFlagFile } from '../files/files.ts'
import { follow } from '../files/follow.ts'
import { codeOf, StartError } from '../files/starterror.ts'
import { type Listening, servingHosts } from '../flags/serving.ts'
import type { ViewSetup } from './viewsetup.ts'

type Certificate = Pick<TlsOptions, 'cert' | 'key'>

/** The serving certificate and the address of the server. */
export interface FollowedServing {
  readonly listening: Listening
  readonly current: Certificate
  /** Reloads the certificate when its files change. */
  follow(server: Pick<Server, 'useCertificate'>): void
}

/** The certificate of the flags, or a generated one. Throws `StartError` on invalid files. */
export async function openServing(
  { flags, log, signal }: ViewSetup,
  listening: Listening,
): Promise<FollowedServing> {
  const read = () => readCertificate(flags, listening)
  const current = await read()
  let served = current
  const use = (next: Certificate): void => {
    served = next
    whenPassed(expiryOf(next.cert), () => {
      if (served === next) log.error({}, `the serving certificate has expired: renew ${flags.tlsCertFile}`)
    })
  }
  use(current)
  return {
    listening,
    current,
    follow: server =>
      follow({
        what: 'serving certificate',
        current,
        read,
        use(next) {
          server.useCertificate(next)
          use(next)
        },
        log,
        signal,
      }),
  }
}

async function readCertificate(flags: ViewSetup['flags'], listening: Listening): Promise<Certificate> {
  const { tlsCertFile, tlsPrivateKeyFile, certDir } = flags
  if ((tlsCertFile === undefined) !== (tlsPrivateKeyFile === undefined))
    throw new StartError(
      '--tls-cert-file and --tls-private-key-file must be specified together: add the missing one.',
    )
  if (tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined) {
    const [cert, key] = await Promise.all([
      readFlagFile('--tls-cert-file', tlsCertFile),
      readFlagFile('--tls-private-key-file', tlsPrivateKeyFile),
    ])
    checkCertificate(cert, tlsCertFile)
    return { cert, key }
  }
  await mkdir(certDir, { recursive: true, mode: 0o700 }).catch(error => {
    throw new StartError(`${certDir} cannot be written (${codeOf(error)}): choose another --cert-dir.`)
  })
  const { certificate, key } = await prepareServing(certDir, servingHosts(listening))
  return { cert: certificate, key }
}

function checkCertificate(pem: string, path: string): void {
  try {
    expiryOf(pem)
  } catch {
    throw new StartError(`${path} contains no valid certificate: give --tls-cert-file a PEM file.`)
  }
}
