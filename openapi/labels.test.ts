import assert from 'node:assert/strict'
import { base62Hash, claimLabelKey, claimLabelValue, exportHash, reflexiveClaimValue } from './labels.ts'

describe('label encodings', () => {
  it('hashes without padding', () => {
    assert.equal(base62Hash('hello'), 'bPWFAjMdldrWYheSsV0t7VkdTNtgGHBplr6qLF')
    assert.equal(base62Hash('input50'), 'WF7EK9IErgKvTHdcQRzkjJDEJDBOwfQSmzEQ')
    assert.equal(base62Hash(''), 'aAkHCkvjglfF66mdhRcVKb0I3FT1lepYlWZNwj')
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
})
