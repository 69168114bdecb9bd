import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIP } from 'node:net'
import { addressBytes } from '../../framework/formats/ip.ts'
import {
  bitString,
  contentsOf,
  der,
  integer,
  objectIdentifier,
  octetString,
  partsOf,
  sequence,
  set,
  time,
  truth,
  utf8String,
} from './der.ts'

/** A certificate and its private key (PKCS #8), both PEM. */
export interface KeyPair {
  readonly certificate: string
  readonly key: string
}

const day = 24 * 60 * 60 * 1000
const daysOfAuthority = 3650

/** How the common names of authorities begin, and the common name of serving certificates. */
export const authorityName = 'oriel-ca@'
export const servingName = 'oriel'

/** A new certificate authority for the server's own certificates, valid for ten years. */
export function issueAuthority(): KeyPair {
  const { publicKey, privateKey } = newKeys()
  // The name is unique because verifiers look up authorities by name.
  const name = nameOf(`${authorityName}${randomBytes(4).toString('hex')}`)
  const certificate = certify(privateKey, {
    subject: name,
    issuer: name,
    publicKey,
    days: daysOfAuthority,
    extensions: [
      critical('2.5.29.19', sequence(truth, integer(Buffer.of(0)))),
      critical('2.5.29.15', bitString(Buffer.of(usages.certSign | usages.crlSign), 1)),
      extension('2.5.29.14', octetString(keyIdentifier(publicKey))),
    ],
  })
  return { certificate, key: pemOfKey(privateKey) }
}

/** A serving certificate for host names and addresses, signed by an authority, valid for a year. */
export const issueServing = (authority: KeyPair, hosts: readonly string[]): KeyPair =>
  issue(authority, { commonName: servingName, days: 365 }, [
    extension('2.5.29.37', sequence(objectIdentifier(serverAuthentication))),
    extension('2.5.29.17', sequence(...hosts.map(alternativeName))),
  ])

/** A client certificate with a common name, signed by an authority, valid for ten years, as a new authority is. */
export const issueClient = (authority: KeyPair, commonName: string): KeyPair =>
  issue(authority, { commonName, days: daysOfAuthority }, [
    extension('2.5.29.37', sequence(objectIdentifier(clientAuthentication))),
  ])

interface Issued {
  readonly commonName: string
  readonly days: number
}

function issue(authority: KeyPair, { commonName, days }: Issued, purposes: readonly Buffer[]): KeyPair {
  const issuer = new X509Certificate(authority.certificate)
  const { publicKey, privateKey } = newKeys()
  const certificate = certify(createPrivateKey(authority.key), {
    subject: nameOf(commonName),
    issuer: subjectOf(issuer),
    publicKey,
    days,
    extensions: [
      critical('2.5.29.19', sequence()),
      critical('2.5.29.15', bitString(Buffer.of(usages.digitalSignature), 7)),
      ...purposes,
      extension('2.5.29.35', sequence(der(0x80, keyIdentifier(issuer.publicKey)))),
    ],
  })
  return { certificate, key: pemOfKey(privateKey) }
}

const newKeys = (): { publicKey: KeyObject; privateKey: KeyObject } =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })

const pemOfKey = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()

/** The variable fields of a certificate (RFC 5280, section 4.1); buffers are DER. */
interface Contents {
  readonly subject: Buffer
  readonly issuer: Buffer
  readonly publicKey: KeyObject
  readonly days: number
  readonly extensions: readonly Buffer[]
}

const version3 = der(0xa0, integer(Buffer.of(2)))

function certify(key: KeyObject, { subject, issuer, publicKey, days, extensions }: Contents): string {
  const signed = sequence(
    version3,
    integer(randomBytes(16)),
    signatureOf(key),
    issuer,
    validity(days),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const certificate = sequence(signed, signatureOf(key), bitString(sign('sha256', signed, key)))
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

const ecdsaWithSha256 = sequence(objectIdentifier('1.2.840.10045.4.3.2'))
const rsaWithSha256 = sequence(objectIdentifier('1.2.840.113549.1.1.11'), der(0x05))

const signatureOf = (key: KeyObject): Buffer =>
  key.asymmetricKeyType === 'rsa' ? rsaWithSha256 : ecdsaWithSha256

/** Starts an hour ago, so that clients with a slow clock accept the certificate. */
function validity(days: number): Buffer {
  const now = Date.now()
  return sequence(time(new Date(now - day / 24)), time(new Date(now + days * day)))
}

const nameOf = (commonName: string): Buffer =>
  sequence(set(sequence(objectIdentifier('2.5.4.3'), utf8String(commonName))))

/** The DER bytes of the subject: verifiers compare issuers byte by byte. */
function subjectOf(certificate: X509Certificate): Buffer {
  const [signed = certificate.raw] = partsOf(certificate.raw)
  return partsOf(signed)[5] ?? sequence()
}

/** The SHA-1 of the bits of a public key (RFC 5280, section 4.2.1.2). */
function keyIdentifier(key: KeyObject): Buffer {
  const [, bits = Buffer.of()] = partsOf(key.export({ type: 'spki', format: 'der' }))
  return createHash('sha1').update(contentsOf(bits).subarray(1)).digest()
}

const extension = (id: string, value: Buffer): Buffer => sequence(objectIdentifier(id), octetString(value))
const critical = (id: string, value: Buffer): Buffer =>
  sequence(objectIdentifier(id), truth, octetString(value))

const usages = { digitalSignature: 0x80, certSign: 0x04, crlSign: 0x02 } as const
const serverAuthentication = '1.3.6.1.5.5.7.3.1'
const clientAuthentication = '1.3.6.1.5.5.7.3.2'

const alternativeName = (host: string): Buffer =>
  isIP(host) === 0 ? der(0x82, Buffer.from(host)) : der(0x87, Buffer.from(addressBytes(host)))
