import { X509Certificate } from 'node:crypto'
import type { DetailedPeerCertificate, PeerCertificate } from 'node:tls'

/** Whether a configured authority has issued the certificate, and it is valid now. */
export type Trust = (certificate: PeerCertificate) => boolean

const remembered = 1024

/**
 * Trust in the authorities of a PEM bundle. TLS has verified the chain up to any configured authority; this checks
 * which one. Throws if the bundle has no certificate.
 */
export function trustIn(bundle: string): Trust {
  const authorities = certificatesOf(bundle)
  const known = new Map<string, boolean>()
  return certificate => {
    if (!validNow(certificate)) return false
    const before = known.get(certificate.fingerprint256)
    if (before !== undefined) return before
    const issued = issuedBy(certificate, authorities)
    if (known.size >= remembered) known.clear()
    known.set(certificate.fingerprint256, issued)
    return issued
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

/** Checked for each request: a connection may outlive its certificate. */
export function validNow(certificate: PeerCertificate): boolean {
  const now = Date.now()
  const { from, to } = validityOf(certificate)
  return from <= now && now <= to
}

export function certificatesOf(bundle: string): readonly X509Certificate[] {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
  if (blocks === null) throw new Error('no certificate in PEM format')
  return blocks.map(block => new X509Certificate(block))
}

function issuedBy(
  certificate: PeerCertificate | DetailedPeerCertificate,
  authorities: readonly X509Certificate[],
): boolean {
  const parsed = new X509Certificate(certificate.raw)
  if (authorities.some(ca => parsed.checkIssued(ca) && parsed.verify(ca.publicKey))) return true
  const issuer = 'issuerCertificate' in certificate ? certificate.issuerCertificate : undefined
  if (issuer === undefined || issuer.fingerprint256 === certificate.fingerprint256) return false
  // The peer has sent the chain: each certificate must be a CA that has signed the one below.
  const parent = new X509Certificate(issuer.raw)
  return (
    parent.ca &&
    parsed.checkIssued(parent) &&
    parsed.verify(parent.publicKey) &&
    issuedBy(issuer, authorities)
  )
}
