import { mkdir } from 'node:fs/promises'
import type { Server } from '../../framework/server/server.ts'
import { prepareServing } from '../certificates/servingfiles.ts'
import { followCertificate, readSupplied, type ServingCertificate } from '../certificates/suppliedserving.ts'
import { codeOf, StartError } from '../files/starterror.ts'
import { type Listening, servingHosts } from '../flags/serving.ts'
import type { ViewSetup } from './viewsetup.ts'

/** The serving certificate of the views. */
export interface ViewCertificate {
  readonly current: ServingCertificate
  /** Reloads the certificate when its files change. */
  follow(server: Pick<Server, 'useCertificate'>): void
}

/** The certificate of the flags, or a generated one. Throws `StartError` on invalid files. */
export async function openViewCertificate(
  { flags, log, signal }: ViewSetup,
  listening: Listening,
): Promise<ViewCertificate> {
  const read = () => readCertificate(flags, listening)
  const current = await read()
  return {
    current,
    follow: server => followCertificate({ current, read, file: flags.tlsCertFile, server, log, signal }),
  }
}

async function readCertificate(flags: ViewSetup['flags'], listening: Listening): Promise<ServingCertificate> {
  const supplied = await readSupplied(flags)
  if (supplied !== undefined) return supplied
  const { certDir } = flags
  await mkdir(certDir, { recursive: true, mode: 0o700 }).catch(error => {
    throw new StartError(`${certDir} cannot be written (${codeOf(error)}): choose another --cert-dir.`)
  })
  const { certificate, key } = await prepareServing(certDir, servingHosts(listening))
  return { cert: certificate, key }
}
