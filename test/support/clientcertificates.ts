import 'reflect-metadata'
import { isIP } from 'node:net'
import {
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import type { KeyPair } from '../../cmd/certificates/certificates.ts'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const hour = 60 * 60 * 1000

export interface ClientCertificateOptions {
  /** Such as `CN=alice, O=devs, O=admins`. */
  readonly subject: string
  /** Hours of validity from now; negative: expired. */
  readonly hours?: number
  /** Hours from now until it is valid; default: it has been valid for a day. */
  readonly from?: number
  readonly serverOnly?: boolean
  /** Subject alternative names, as in a serving certificate. */
  readonly hosts?: readonly string[]
}

const pem = (der: ArrayBuffer): string =>
  `-----BEGIN PRIVATE KEY-----\n${Buffer.from(der).toString('base64')}\n-----END PRIVATE KEY-----\n`

const alternativeName = (value: string) => ({
  type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const),
  value,
})

/** A client certificate signed by an authority. */
export async function issueClient(authority: KeyPair, options: ClientCertificateOptions): Promise<KeyPair> {
  const { subject, from = -24, hours = 1, serverOnly = false, hosts = [] } = options
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const der = Buffer.from(authority.key.replace(/-----[^-]+-----|\s/g, ''), 'base64')
  const certificate = await X509CertificateGenerator.create({
    subject,
    issuer: new X509Certificate(authority.certificate).subject,
    notBefore: new Date(Date.now() + from * hour),
    notAfter: new Date(Date.now() + hours * hour),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: await crypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']),
    extensions: [
      new ExtendedKeyUsageExtension([serverOnly ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth]),
      ...(hosts.length === 0 ? [] : [new SubjectAlternativeNameExtension(hosts.map(alternativeName))]),
    ],
  })
  const key = pem(await crypto.subtle.exportKey('pkcs8', keys.privateKey))
  return { certificate: certificate.toString('pem'), key }
}
