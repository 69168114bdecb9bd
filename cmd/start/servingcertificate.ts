import type { Server } from '../../framework/server/server.ts'
import { readAuthority } from '../certificates/authorities.ts'
import { type CertificateWatchOptions, watchCertificate } from '../certificates/certificatewatch.ts'
import { prepareServing, type ServingFiles } from '../certificates/servingfiles.ts'
import { followCertificate, readSupplied, type ServingCertificate } from '../certificates/suppliedserving.ts'
import type { CertificateFlags } from '../flags/serving.ts'
import type { StartFlags } from '../flags/start.ts'

/** The flags of a serving certificate, and of the authorities by which clients verify it. */
type ServedCertificateFlags = CertificateFlags & Pick<StartFlags, 'rootCaFile'>

/** The serving certificate of a server. */
export interface OpenedCertificate {
  readonly files: ServingFiles
  /** Reloads the certificate when its files change. */
  follow(
    server: Pick<Server, 'useCertificate'>,
    ending: Pick<CertificateWatchOptions, 'log' | 'signal'>,
  ): void
}

/** The certificate of the flags, or that of the data directory. Throws `StartError` on invalid files. */
export async function openServingCertificate(
  flags: ServedCertificateFlags,
  directory: string,
  hosts: readonly string[],
): Promise<OpenedCertificate> {
  const supplied = await readSupplied(flags)
  if (supplied !== undefined) return suppliedServing(flags, supplied)
  const files = await prepareServing(directory, hosts)
  const current = { cert: files.certificate, key: files.key }
  return {
    files,
    follow: (server, ending) => watchCertificate({ directory, hosts, current, server, ...ending }),
  }
}

/** Without `--root-ca-file`, clients trust the certificate itself, or the authorities that its file has. */
async function suppliedServing(
  flags: ServedCertificateFlags,
  current: ServingCertificate,
): Promise<OpenedCertificate> {
  const { rootCaFile, tlsCertFile: file } = flags
  const authority =
    rootCaFile === undefined ? current.cert : await readAuthority('--root-ca-file', rootCaFile)
  const read = async (): Promise<ServingCertificate> => (await readSupplied(flags)) ?? current
  return {
    files: { authority, certificate: current.cert, key: current.key },
    follow: (server, ending) => followCertificate({ current, read, file, server, ...ending }),
  }
}
