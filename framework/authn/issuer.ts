import { X509Certificate } from 'node:crypto'
import type { DetailedPeerCertificate, PeerCertificate } from 'node:tls'

/** Whether a configured authority has issued the certificate, and both are valid now. */
export type Trust = (certificate: PeerCertificate) => boolean

/**
 * Trust in the authorities of a PEM bundle. TLS has verified the chain up to any configured authority; this checks
 * which one. Throws if the bundle has no certificate.
 */
export function trustIn(bundle: string): Trust {
  const authorities = certificatesOf(bundle)
  // A connection has one certificate object.
  const known = new WeakMap<PeerCertificate, readonly Validity[]>()
  return certificate => {
    const found = known.get(certificate) ?? chainsOf(certificate, authorities)
    known.set(certificate, found)
    return found.some(isNow)
  }
}

/** Milliseconds since the epoch. */
interface Validity {
  readonly from: number
  readonly to: number
}

const validities = new WeakMap<PeerCertificate, Validity>()

function validityOf(certificate: PeerCertificate): Validity {
  const { valid_from, valid_to } = certificate
  const read = validities.get(certificate) ?? { from: Date.parse(valid_from), to: Date.parse(valid_to) }
  validities.set(certificate, read)
  return read
}

/** Checked for each request: a connection may outlive its certificate, and its authority. */
export const validNow = (certificate: PeerCertificate): boolean => isNow(validityOf(certificate))

function isNow({ from, to }: Validity): boolean {
  const now = Date.now()
  return from <= now && now <= to
}

export function certificatesOf(bundle: string): readonly X509Certificate[] {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
  if (blocks === null) throw new Error('no certificate in PEM format')
  return blocks.map(block => new X509Certificate(block))
}

/** When each chain of the certificate to one of the authorities is valid. */
function chainsOf(
  certificate: PeerCertificate | DetailedPeerCertificate,
  authorities: readonly X509Certificate[],
): readonly Validity[] {
  const parsed = new X509Certificate(certificate.raw)
  const isIssuedBy = (ca: X509Certificate): boolean => parsed.checkIssued(ca) && parsed.verify(ca.publicKey)
  const issuers = authorities.filter(isIssuedBy).map(readValidity)
  const above = 'issuerCertificate' in certificate ? certificate.issuerCertificate : undefined
  const isSent = above !== undefined && above.fingerprint256 !== certificate.fingerprint256
  const parent = isSent ? new X509Certificate(above.raw) : undefined
  // The peer has sent the chain: each certificate must be a CA that has signed the one below.
  if (above !== undefined && parent?.ca && isIssuedBy(parent)) issuers.push(...chainsOf(above, authorities))
  const own = validityOf(certificate)
  return issuers.map(({ from, to }) => ({ from: Math.max(from, own.from), to: Math.min(to, own.to) }))
}

const readValidity = ({ validFrom, validTo }: X509Certificate): Validity => ({
  from: Date.parse(validFrom),
  to: Date.parse(validTo),
})
