import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { readIfThere, writePrivately } from '../files/files.ts'
import { StartError } from '../files/starterror.ts'
import { authorityName, issueAuthority, issueServing, type KeyPair, servingName } from './certificates.ts'

/** The serving certificate, its key, and the certificate authority that clients verify it with, all PEM. */
export interface ServingFiles extends KeyPair {
  readonly authority: string
}

const soon = 30 * 24 * 60 * 60 * 1000

/** File names as in kcp; `ca.key` is absent when an operator supplies the certificates. */
export const servingPaths = (directory: string) => ({
  authority: join(directory, 'ca.crt'),
  authorityKey: join(directory, 'ca.key'),
  certificate: join(directory, 'apiserver.crt'),
  key: join(directory, 'apiserver.key'),
})

/**
 * The serving certificate of a data directory, generated when it is missing, expires within 30 days or lacks one of the
 * host names. One that an operator supplied is never replaced: throws `StartError` when it has expired or clients of `ca.crt` refuse
 * it. Throws `StartError` also when the authority is not valid yet.
 */
export async function prepareServing(directory: string, hosts: readonly string[]): Promise<ServingFiles> {
  const paths = servingPaths(directory)
  const texts = [paths.certificate, paths.authority, paths.authorityKey].map(readText)
  const [certificate, authority, authorityKey] = await Promise.all(texts)
  const found = await readServing(directory)
  if (found !== undefined && authorityKey === undefined) return suppliedFiles(found, paths.certificate)
  if (found !== undefined && isUsable(found, hosts)) return found
  if (certificate !== undefined && isSupplied(certificate)) return signedFiles(found, paths.certificate)
  const kept = keptAuthority(authority, authorityKey)
  const signer = kept ?? issueAuthority()
  if (kept === undefined) {
    await writePrivately(paths.authorityKey, signer.key)
    await writePrivately(paths.authority, signer.certificate)
  }
  const serving = issueServing(signer, hosts)
  await writePrivately(paths.key, serving.key)
  await writePrivately(paths.certificate, serving.certificate)
  return { ...serving, authority: signer.certificate }
}

/** Reads the files; undefined when one is missing. */
export async function readServing(directory: string): Promise<ServingFiles | undefined> {
  const paths = servingPaths(directory)
  const files = [paths.authority, paths.certificate, paths.key]
  const [authority, certificate, key] = await Promise.all(files.map(readText))
  if (authority === undefined || certificate === undefined || key === undefined) return undefined
  return { authority, certificate, key }
}

const readText = async (path: string): Promise<string | undefined> => (await readIfThere(path))?.toString()

function suppliedFiles(files: ServingFiles, path: string): ServingFiles {
  if (parsed(files.certificate, certificate => isValidAt(certificate, Date.now()))) return files
  throw new StartError(`${path} is invalid or has expired: replace it, or remove it together with ca.crt.`)
}

/** Those of an operator that the authority of the directory has signed. */
function signedFiles(files: ServingFiles | undefined, path: string): ServingFiles {
  if (files !== undefined && isSigned(files, Date.now())) return files
  throw new StartError(
    `${path} is not a certificate of this server, and has expired, does not match apiserver.key, or is not signed by ca.crt: ` +
      'give it with --tls-cert-file, or put its authority into ca.crt and remove ca.key, or remove it.',
  )
}

const keptAuthority = (certificate: string | undefined, key: string | undefined): KeyPair | undefined =>
  certificate !== undefined && key !== undefined && isUsableAuthority({ certificate, key })
    ? { certificate, key }
    : undefined

/** Whether certificates can be issued with it for the next 30 days. Throws `StartError` when it is not valid yet. */
export function isUsableAuthority({ certificate, key }: KeyPair): boolean {
  if (parsed(certificate, isEarly)) throw wrongClock(new X509Certificate(certificate))
  return parsed(
    certificate,
    ca => isValidAt(ca, Date.now() + soon) && ca.checkPrivateKey(createPrivateKey(key)),
  )
}

const isEarly = ({ validFrom }: X509Certificate): boolean => Date.parse(validFrom) > Date.now()

/** A new authority would not help: clients, and other servers, have the certificate of this one. */
function wrongClock({ validFrom }: X509Certificate): StartError {
  const [begin, now] = [Date.parse(validFrom), Date.now()].map(time => new Date(time).toISOString())
  return new StartError(
    `The certificate authority is not valid before ${begin}, and the clock shows ${now}: set the clock of this machine, or ` +
      'of the one that has issued it.',
  )
}

const isUsable = (files: ServingFiles, hosts: readonly string[]): boolean =>
  isSigned(files, Date.now() + soon) &&
  parsed(files.certificate, serving => hosts.every(host => covers(serving, host)))

/** Whether clients of the authority accept the certificate until then. */
const isSigned = ({ authority, certificate, key }: ServingFiles, until: number): boolean =>
  parsed(certificate, serving => {
    const ca = new X509Certificate(authority)
    return (
      serving.checkIssued(ca) &&
      isValidAt(ca, until) &&
      isValidAt(serving, until) &&
      serving.checkPrivateKey(createPrivateKey(key))
    )
  })

/** Whether a certificate is not one of `issueServing`. */
const isSupplied = (certificate: string): boolean =>
  parsed(
    certificate,
    ({ subject, issuer }) => subject !== `CN=${servingName}` || !issuer.startsWith(`CN=${authorityName}`),
  )

const covers = (certificate: X509Certificate, host: string): boolean =>
  (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined

const isValidAt = ({ validFrom, validTo }: X509Certificate, time: number): boolean =>
  Date.parse(validFrom) <= Date.now() && time <= Date.parse(validTo)

/** False for text that is not a certificate, so that a damaged file is replaced like an expired one. */
function parsed(pem: string, check: (certificate: X509Certificate) => boolean): boolean {
  try {
    return check(new X509Certificate(pem))
  } catch {
    return false
  }
}
