import assert from 'node:assert/strict'
import {
  base62,
  base62Hash,
  claimLabelKey,
  claimLabelValue,
  exportHash,
  initializerLabel,
  reflexiveClaimValue,
  terminatorLabel,
} from './labels.ts'

const lifecycle: [key: string, value: string, label: { key: string; value: string }][] = [
  [
    'initializer.internal.kcp.io/d1d6459a03641b6fd7560fc2849f6c66fa9',
    'd1d6459a03641b6fd7560fc2849f6c66fa971a0afeded6ba2d2743f2',
    initializerLabel('root:universal'),
  ],
  [
    'terminator.internal.kcp.io/d1d6459a03641b6fd7560fc2849f6c66fa97',
    'd1d6459a03641b6fd7560fc2849f6c66fa971a0afeded6ba2d2743f2',
    terminatorLabel('root:universal'),
  ],
  [
    'initializer.internal.kcp.io/04eebc0754736412e4ffddc1cbc6504ae0a',
    '04eebc0754736412e4ffddc1cbc6504ae0a58414b7015f0d55bb865d',
    initializerLabel('1oget0q1249b2vcy:example'),
  ],
  [
    'terminator.internal.kcp.io/04eebc0754736412e4ffddc1cbc6504ae0a5',
    '04eebc0754736412e4ffddc1cbc6504ae0a58414b7015f0d55bb865d',
    terminatorLabel('1oget0q1249b2vcy:example'),
  ],
  [
    'initializer.internal.kcp.io/dd58c810629ccc3e49c7d8225b9bcfaa42a',
    'dd58c810629ccc3e49c7d8225b9bcfaa42a4a2ecbb7e4a9be76614e3',
    initializerLabel('system:apibindings'),
  ],
  [
    'terminator.internal.kcp.io/5f4acfc155d0af135cfa4b1656835c380315',
    '5f4acfc155d0af135cfa4b1656835c380315b4080527169dba3c7ae2',
    terminatorLabel('root:team'),
  ],
]

describe('label encodings', () => {
  it('hashes without padding', () => {
    assert.equal(base62Hash('hello'), 'bPWFAjMdldrWYheSsV0t7VkdTNtgGHBplr6qLF')
    assert.equal(base62Hash('input50'), 'WF7EK9IErgKvTHdcQRzkjJDEJDBOwfQSmzEQ')
    assert.equal(base62Hash(''), 'aAkHCkvjglfF66mdhRcVKb0I3FT1lepYlWZNwj')
    const digits = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
    const numberOf = (text: string): bigint =>
      [...text].reduce((sum, digit) => sum * 62n + BigInt(digits.indexOf(digit)), 0n)
    for (const number of [0n, 61n, 62n, 62n ** 8n - 1n, 62n ** 8n, 62n ** 17n + 5n, 2n ** 224n - 1n]) {
      const hex = number.toString(16)
      const text = base62(Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex'))
      assert.equal(numberOf(text), number)
      assert.ok(text === '0' || !text.startsWith('0'), text)
    }
    assert.equal(base62(Buffer.alloc(0)), '0')
  })

  it('names exports', () => {
    assert.equal(
      exportHash({ cluster: 'root', name: 'tenancy.kcp.io' }),
      'bmCdly9xXiUpEHe3ypvDwvXMTfoVZUE92mqAQf',
    )
    assert.equal(
      exportHash({ cluster: 'root', name: 'topology.kcp.io' }),
      '7QHLqjz8KlhjPddt8MECYq0OLDUNvLAO5v9x4x',
    )
    assert.equal(
      claimLabelKey({ cluster: '2hx8kq0p4z7vw1a9', name: 'widgets.example.io' }),
      'claimed.internal.apis.kcp.io/7PwzLqP6w78LyxC6PnSVIkR95yuBBtsc3GQnwD',
    )
  })

  const vectors = [
    [{ group: '', resource: 'configmaps' }, '3QVjs6pfBjMpLEVYYhysJnroYGsQGlWm05E4qe'],
    [{ group: '', resource: 'secrets' }, 'ctwrJRvMX7cX8wwk40Lz00UjJhYxPWE3TpN1lu'],
    [{ group: '', resource: 'events' }, '6wBCe82Znnoj6Q9mzomQQpfSdtDfiATwZW1ePT'],
    [{ group: 'core.kcp.io', resource: 'logicalclusters' }, 'UyAMVlAwqbvOxopXfyelflRzShqUBuPkFnZkA'],
    [{ group: 'apis.kcp.io', resource: 'apibindings' }, '6719jSXePkPLHBgcm4bCDNiA7asY6qpDrj7oWS'],
    [
      { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
      'ceXYeezY4ygHH3LFSWHglOA19Z3wolo6x5Qxa6',
    ],
    [
      { group: 'apps', resource: 'deployments', identityHash: 'deadbeef' },
      '4CpOMiJ5JL9ZC4cG8ne7nGNQbSOEUiwZ89KHal',
    ],
    [
      { group: 'wild.wild.west', resource: 'sheriffs', identityHash: '0f1e2d3c' },
      '34zD34990ELECQPo6M4vDSbEnjlO70KgLCNxn5',
    ],
  ] as const
  for (const [claim, value] of vectors) {
    it(`values a claim on ${claim.resource}`, () => assert.equal(claimLabelValue(claim), value))
  }

  it('has the constant of a binding to its own export', () =>
    assert.equal(reflexiveClaimValue, 'LstvmbbzVDDOn90ZbhzSQO5U3DMCf88h1pZ'))

  for (const [key, value, label] of lifecycle) {
    it(`labels objects that wait for ${key}`, () => assert.deepEqual(label, { key, value }))
  }
})
