import assert from 'node:assert/strict'
import 'reflect-metadata'
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509Certificate as PeculiarCertificate,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { addressBytes } from '../../framework/formats/ip.ts'
import { issueAuthority, issueServing } from './certificates.ts'

const year = 365 * 24 * 60 * 60 * 1000

describe('certificates', () => {
  const authority = issueAuthority()
  const hosts = ['localhost', 'oriel.example.com', '127.0.0.1', '::1']
  const serving = issueServing(authority, hosts)

  it('are accepted by OpenSSL', () => {
    const [ca, certificate] = [authority, serving].map(pair => new X509Certificate(pair.certificate))
    assert.ok(ca?.ca && certificate?.ca === false)
    assert.ok(certificate.checkIssued(ca) && certificate.verify(ca.publicKey) && ca.verify(ca.publicKey))
    assert.ok(certificate.checkPrivateKey(createPrivateKey(serving.key)))
    assert.match(ca.subject, /^CN=oriel-ca@[0-9a-f]{8}$/)
    assert.equal(certificate.issuer, ca.subject)
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1'])
    const left = Date.parse(certificate.validTo) - Date.now()
    assert.ok(left > 0.99 * year && left <= year)
  })

  it('have fields that another library can read', () => {
    const ca = new PeculiarCertificate(authority.certificate)
    const certificate = new PeculiarCertificate(serving.certificate)
    const { ca: isCa, pathLength } = ca.getExtension(BasicConstraintsExtension) ?? {}
    assert.deepEqual([isCa, pathLength], [true, 0])
    const signing = KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign
    assert.equal(ca.getExtension(KeyUsagesExtension)?.usages, signing)
    assert.equal(certificate.getExtension(KeyUsagesExtension)?.usages, KeyUsageFlags.digitalSignature)
    assert.deepEqual(Array.from(certificate.getExtension(ExtendedKeyUsageExtension)?.usages ?? []), [
      '1.3.6.1.5.5.7.3.1',
    ])
    const names = certificate.getExtension(SubjectAlternativeNameExtension)?.names.items
    assert.deepEqual(
      names?.map(({ type, value }) => `${type} ${value}`),
      ['dns localhost', 'dns oriel.example.com', 'ip 127.0.0.1', 'ip ::1'],
    )
    assert.equal(
      certificate.getExtension(AuthorityKeyIdentifierExtension)?.keyId,
      ca.getExtension(SubjectKeyIdentifierExtension)?.keyId,
    )
  })

  it('are different each time', () => {
    const again = issueServing(authority, hosts)
    assert.notEqual(
      new X509Certificate(again.certificate).serialNumber,
      new X509Certificate(serving.certificate).serialNumber,
    )
    assert.notEqual(issueAuthority().key, authority.key)
  })

  it('are signed by authorities of other tools, also with RSA', async () => {
    const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' })
    const spki = publicKey.export({ type: 'spki', format: 'der' })
    const made = await X509CertificateGenerator.createSelfSigned({
      name: 'O=Ünder, CN=corp',
      signingAlgorithm: algorithm,
      keys: {
        publicKey: await crypto.subtle.importKey('spki', spki, algorithm, true, ['verify']),
        privateKey: await crypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']),
      },
      extensions: [new BasicConstraintsExtension(true)],
    })
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const issued = new X509Certificate(
      issueServing({ certificate: made.toString('pem'), key }, hosts).certificate,
    )
    const ca = new X509Certificate(made.toString('pem'))
    assert.ok(issued.checkIssued(ca) && issued.verify(ca.publicKey))
  })

  it('encode addresses as bytes', () => {
    for (const [address, bytes] of [
      ['192.0.2.1', 'c0000201'],
      ['::', '0'.repeat(32)],
      ['::1', `${'0'.repeat(31)}1`],
      ['2001:db8::a:0:1', '20010db8000000000000000a00000001'],
      ['fe80::1%eth0', `fe80${'0'.repeat(27)}1`],
      ['::ffff:192.0.2.1', `${'0'.repeat(20)}ffffc0000201`],
      ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ] as const)
      assert.equal(Buffer.from(addressBytes(address)).toString('hex'), bytes, address)
  })
})
