// @peculiar/x509 needs the metadata polyfill before its own first line runs.
import 'reflect-metadata'
import { randomBytes, type webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'

/** A certificate and its private key (PKCS #8), both PEM. */
export interface KeyPair {
  readonly certificate: string
  readonly key: string
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const day = 24 * 60 * 60 * 1000

/** A new certificate authority for the server's own certificates, valid for ten years. */
export async function issueAuthority(): Promise<KeyPair> {
  const keys = await newKeys()
  const certificate = await X509CertificateGenerator.createSelfSigned({
    // A name of its own: verifiers look authorities up by name.
    name: `CN=oriel-ca@${randomBytes(4).toString('hex')}`,
    ...validFor(3650),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: `${certificate.toString('pem')}\n`, key: await keyPem(keys.privateKey) }
}

/** A serving certificate for host names and addresses, signed by an authority, valid for a year. */
export async function issueServing(authority: KeyPair, hosts: readonly string[]): Promise<KeyPair> {
  const issuer = new X509Certificate(authority.certificate)
  const keys = await newKeys()
  const certificate = await X509CertificateGenerator.create({
    subject: 'CN=oriel',
    issuer: issuer.subject,
    ...validFor(365),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: await importKey(authority.key),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(
        hosts.map(host => ({ type: isIP(host) === 0 ? ('dns' as const) : ('ip' as const), value: host })),
      ),
      await AuthorityKeyIdentifierExtension.create(issuer),
    ],
  })
  return { certificate: `${certificate.toString('pem')}\n`, key: await keyPem(keys.privateKey) }
}

const newKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])

/** Starts an hour ago, so that clocks that are a little behind accept it. */
function validFor(days: number): { notBefore: Date; notAfter: Date } {
  const now = Date.now()
  return { notBefore: new Date(now - day / 24), notAfter: new Date(now + days * day) }
}

async function keyPem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', key)).toString('base64')
  return `-----BEGIN PRIVATE KEY-----\n${der.replace(/(.{64})(?=.)/g, '$1\n')}\n-----END PRIVATE KEY-----\n`
}

const importKey = (pem: string): Promise<webcrypto.CryptoKey> =>
  crypto.subtle.importKey(
    'pkcs8',
    Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64'),
    algorithm,
    false,
    ['sign'],
  )
