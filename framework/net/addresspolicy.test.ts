import assert from 'node:assert/strict'
import { type AddressRules, createAddressPolicy, parseAddressRules } from './addresspolicy.ts'

const flags = {
  command: 'oriel start',
  allow: '--mount-allow',
  deny: '--mount-deny',
  allowHttp: '--mount-allow-http',
}
const problemIn = (url: string, policy: Partial<AddressRules> = {}): string | undefined =>
  createAddressPolicy({ allow: [], ...policy }).problemOf(url)

/** The addresses that are connected to for a name, as `net.connect` asks for them. */
function addressesOf(host: string, policy: Partial<AddressRules> = {}): Promise<readonly string[]> {
  const { lookup } = createAddressPolicy({ allow: [], ...policy })
  return new Promise((resolve, reject) =>
    lookup(host, { all: true }, (error, found) => {
      if (error) reject(error)
      else resolve([found].flat().map(each => (typeof each === 'string' ? each : each.address)))
    }),
  )
}

describe('servers that tenants name', () => {
  it('are public ones, with https and nothing else in the URL', () => {
    for (const url of [
      'https://example.com',
      'https://8.8.8.8:8443/a/b',
      'https://[2606:4700::1111]/',
      'https://[2001:db9::1]/',
    ])
      assert.equal(problemIn(url), undefined, url)
    for (const [url, problem] of [
      ['example.com', 'it is not an absolute URL'],
      ['http://example.com', 'its scheme is not https'],
      ['file:///etc/passwd', 'its scheme is not https'],
      ['https://user:secret@example.com', 'it has credentials in it'],
      ['https://example.com?a=b', 'it has a query or a fragment'],
      ['https://example.com#a', 'it has a query or a fragment'],
    ] as const)
      assert.equal(problemIn(url), problem, url)
  })

  it('are not this machine, its networks or metadata services of clouds, in every notation', () => {
    for (const host of [
      ...['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '0.0.0.0', '[::1]', '[::]'],
      ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]'],
      ...['10.1.2.3', '172.31.0.1', '192.168.1.1', '100.64.0.1', '169.254.169.254', '[fd00:ec2::254]'],
      ...['[fec0::1]', '[::169.254.169.254]', '[::ffff:0:127.0.0.1]', '[2001::1]'],
      ...['[fe80::1]', '224.0.0.1', '255.255.255.255', '１２７.0.0.1'],
    ])
      assert.match(problemIn(`https://${host}/`) ?? '', /^its host \S+ has no public address$/, host)
  })

  it('are resolved when connecting, because a public name may have another address by then', async () => {
    await assert.rejects(addressesOf('localhost'), {
      name: 'AddressRefused',
      message: 'its host localhost has no public address',
    })
    assert.ok((await addressesOf('localhost', { allow: ['127.0.0.0/8', '::1'] })).length > 0)
    assert.ok((await addressesOf('localhost', { allow: ['LOCALHOST'] })).length > 0)
    await assert.rejects(addressesOf('name.invalid'), { code: /ENOTFOUND|EAI_AGAIN/ })
  })

  it('are also those that the operator allows, and never those that are denied', async () => {
    assert.equal(problemIn('https://10.1.2.3', { allow: ['10.1.0.0/16'] }), undefined)
    assert.match(problemIn('https://10.2.2.3', { allow: ['10.1.0.0/16'] }) ?? '', /no public address/)
    assert.equal(problemIn('https://8.8.8.8', { deny: ['8.8.8.0/24'] }), 'its host 8.8.8.8 is denied')
    assert.equal(
      problemIn('https://EXAMPLE.com.', { deny: ['example.com'] }),
      'its host example.com is denied',
    )
    assert.equal(problemIn('http://10.1.2.3', { allow: ['10.1.2.3'], allowHttp: true }), undefined)
    const both = { allow: ['localhost'], deny: ['127.0.0.0/8', '::1'] }
    await assert.rejects(addressesOf('localhost', both), { name: 'AddressRefused' })
  })

  it('are refused with the flag that changes it, also after a lookup', async () => {
    const { refusalOf } = createAddressPolicy({ allow: ['10.1.0.0/16'], deny: ['example.com'], flags })
    for (const [url, text] of [
      ['https://10.1.0.1', undefined],
      ['https://name.invalid', undefined],
      [
        'https://10.0.0.1',
        'its host 10.0.0.1 has no public address: --mount-allow 10.0.0.1 of oriel start allows it',
      ],
      [
        'https://localhost',
        'its host localhost has no public address: --mount-allow localhost of oriel start allows it',
      ],
      ['https://example.com', 'its host example.com is denied: --mount-deny of oriel start lists it'],
      ['http://8.8.8.8', 'its scheme is not https: --mount-allow-http of oriel start allows http'],
    ] as const)
      assert.equal(await refusalOf(url), text, url)
  })

  it('are allowed as names, addresses or networks', () => {
    for (const place of ['https://a', 'a b', '10.0.0.0/33', '10.0.0.0/x', '::1/129', ''])
      assert.throws(() => parseAddressRules([place]), /is neither a host name|is not a network/, place)
  })
})
