import type { IncomingHttpHeaders } from 'node:http'
import type { PeerCertificate } from 'node:tls'
import { unauthorized } from '../meta/errors.ts'
import type { Authenticator } from '../request/authenticator.ts'
import type { UserInfo } from '../request/user.ts'
import { authenticated } from './authentication.ts'
import { trustIn, validNow } from './issuer.ts'

/**
 * Users by client certificate: the common name is the user name, each organization a group, and an attribute of
 * Kubernetes the UID (`x509.CommonNameUserConversion`; rules.md 9.1). `ca`: the PEM bundle of the authorities of users,
 * if TLS also accepts other authorities, such as that of a front proxy. Requests that a page of another origin has made a
 * browser send have no user: the browser adds the certificate by itself.
 */
export function clientCertificates({ ca }: { readonly ca?: string } = {}): Authenticator {
  const trusted = ca === undefined ? validNow : trustIn(ca)
  // A connection has one certificate object.
  const users = new WeakMap<PeerCertificate, UserInfo>()
  return {
    authenticate: ({ certificate, headers }) => {
      if (certificate === undefined || isFromOtherOrigin(headers)) return undefined
      if (!trusted(certificate)) throw unauthorized()
      const user = users.get(certificate) ?? certificateUser(certificate)
      users.set(certificate, user)
      return user
    },
  }
}

/** By Fetch Metadata (W3C), or in older browsers by `Origin` (RFC 6454). Other clients than browsers send neither. */
function isFromOtherOrigin(headers: IncomingHttpHeaders): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return origin !== undefined && origin !== `https://${headers[':authority'] ?? host}`
}

function certificateUser(certificate: PeerCertificate): UserInfo {
  const name = commonName(certificate)
  const [uid, ...more] = attribute(certificate, uidAttribute)
  if (name === undefined || more.length > 0) throw unauthorized()
  const id = certificate.fingerprint256.replaceAll(':', '').toLowerCase()
  return authenticated({
    name,
    groups: attribute(certificate, 'O'),
    ...(uid ? { uid } : {}),
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${id}`] },
  })
}

/** The last common name, as Go reads a subject with several; undefined if it is absent or empty. */
export const commonName = (certificate: PeerCertificate): string | undefined =>
  attribute(certificate, 'CN').at(-1) || undefined

const uidAttribute = '1.3.6.1.4.1.57683.2'

/** All values of an attribute of the subject, by its short name or its object identifier. */
function attribute({ subject }: PeerCertificate, name: string): readonly string[] {
  const value = (subject as { readonly [name: string]: string | readonly string[] } | undefined)?.[name]
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}
