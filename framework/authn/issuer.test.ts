import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import type { PeerCertificate } from 'node:tls'
import { issueAuthority } from '../../cmd/certificates/certificates.ts'
import { issueClient } from '../../test/support/clientcertificates.ts'
import { type StoppedClocks, stopClocks } from '../../test/support/time/clocks.ts'
import { trustIn } from './issuer.ts'

const year = 365 * 24 * 60 * 60 * 1000
const hoursOfYears = (years: number): number => (years * year) / 3_600_000

describe('the certificate of an open connection', () => {
  let clocks: StoppedClocks
  beforeEach(() => {
    clocks = stopClocks()
  })
  afterEach(() => clocks.restore())

  for (const [what, years] of [
    ['the certificate', 5],
    ['its authority', 15],
  ] as const)
    it(`is not trusted any more when ${what} has expired`, async () => {
      const authority = issueAuthority()
      const { certificate } = await issueClient(authority, { subject: 'CN=a', hours: hoursOfYears(years) })
      const peer = new X509Certificate(certificate).toLegacyObject() as PeerCertificate
      const isTrusted = trustIn(authority.certificate + issueAuthority().certificate)
      assert.equal(isTrusted(peer), true)
      clocks.pass(4 * year)
      assert.equal(isTrusted(peer), true)
      clocks.pass(7 * year)
      assert.equal(isTrusted(peer), false)
    })
})
