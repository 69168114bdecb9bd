import assert from 'node:assert/strict'
import { loopback } from '../../framework/request/user.ts'
import { identityFields } from './identity.ts'
import { collectionOf, listOptionsOf, targetOf } from './target.ts'

const widgets = { group: 'example.com', version: 'v1', resource: 'widgets' }

describe('request URLs for a shard', () => {
  for (const [ref, place, target] of [
    [widgets, { cluster: 'one' }, '/clusters/one/apis/example.com/v1/widgets'],
    [
      { group: '', version: 'v1', resource: 'secrets' },
      { cluster: 'one', namespace: 'n', name: 'a' },
      '/clusters/one/api/v1/namespaces/n/secrets/a',
    ],
    [{ ...widgets, identity: 'abc' }, { cluster: '*' }, '/clusters/*/apis/example.com/v1/widgets:abc'],
    [
      { ...widgets, identity: 'abc', subresource: 'status' },
      { cluster: 'one', name: 'a' },
      '/clusters/one/apis/example.com/v1/widgets:abc/a/status',
    ],
    [
      widgets,
      { cluster: 'one/../two', name: '../b?c' },
      '/clusters/one%2F..%2Ftwo/apis/example.com/v1/widgets/..%2Fb%3Fc',
    ],
  ] as const)
    it(target, () => assert.equal(targetOf(ref, place), target))

  it('select a namespace across all clusters by a field selector', () => {
    const query = { cluster: '*', namespace: 'n', limit: 5 } as const
    assert.equal(
      targetOf(widgets, collectionOf(query), listOptionsOf(query)),
      '/clusters/*/apis/example.com/v1/widgets?fieldSelector=metadata.namespace%3Dn&limit=5',
    )
  })
})

describe('impersonation headers', () => {
  it('are absent for the server itself', () => {
    assert.deepEqual(identityFields({ actAs: loopback, hops: 0 }), {})
  })

  it('have name, uid, groups and escaped extra keys', () => {
    const actAs = {
      name: 'jürgen',
      uid: 'u',
      groups: ['a', 'b'],
      extra: { 'authorization.kcp.io/warrant': ['{"user":"x"}'], '100%': ['y', 'z'], none: [] },
    }
    assert.deepEqual(identityFields({ actAs, hops: 2 }), {
      'impersonate-user': 'jÃ¼rgen',
      'impersonate-uid': 'u',
      'impersonate-group': ['a', 'b'],
      'impersonate-extra-authorization.kcp.io%2fwarrant': ['{"user":"x"}'],
      'impersonate-extra-100%25': ['y', 'z'],
      'x-kcp-virtual-resource-hops': '2',
    })
  })
})
