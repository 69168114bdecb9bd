import type { PeerCertificate } from 'node:tls'
import type { Authenticator } from '../authenticator.ts'
import { unauthorized } from '../errors.ts'
import type { UserInfo } from '../user.ts'
import { authenticated } from './authenticated.ts'
import { trustIn, validNow } from './issuer.ts'

/**
 * Users by client certificate: the common name is the user, every organization a group (chapter 40, rule 9.1). `ca`: the
 * PEM bundle whose certificates are users; needed when TLS also accepts other authorities, such as a front proxy's.
 */
export function clientCertificates({ ca }: { readonly ca?: string } = {}): Authenticator {
  const trusted = ca === undefined ? validNow : trustIn(ca)
  return {
    authenticate: async ({ certificate }) => {
      if (certificate === undefined) return undefined
      if (!trusted(certificate)) throw unauthorized()
      return certificateUser(certificate)
    },
  }
}

function certificateUser(certificate: PeerCertificate): UserInfo {
  const name = commonName(certificate)
  if (name === undefined) throw unauthorized()
  const id = certificate.fingerprint256.replaceAll(':', '').toLowerCase()
  return authenticated({
    name,
    groups: attribute(certificate, 'O'),
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${id}`] },
  })
}

/** The last common name, as Kubernetes reads a subject that has several; undefined when there is none or it is empty. */
export const commonName = (certificate: PeerCertificate): string | undefined =>
  attribute(certificate, 'CN').at(-1) || undefined

function attribute(certificate: PeerCertificate, name: 'CN' | 'O'): readonly string[] {
  const value: string | readonly string[] | undefined = certificate.subject?.[name]
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}
