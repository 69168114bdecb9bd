import assert from 'node:assert/strict'
import { itemOf } from '../../framework/contract/item.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import { wellFormed } from './wellformed.ts'

const { clusterCachedResources, apiExports, clusterRoles } = resources
const read = (resource: typeof apiExports, object: object, cluster = 'abc'): KubeObject | undefined =>
  wellFormed(resource, itemOf({ metadata: { name: 'a' }, ...object } as KubeObject, cluster))?.object

describe('objects of another shard', () => {
  it('are read without nulls, and with an empty spec if that is valid', () => {
    const metadata = { name: 'a', labels: { x: 'y' } }
    assert.deepEqual(read(apiExports, { metadata, spec: { resources: null }, status: null }), {
      metadata,
      spec: {},
    })
    assert.deepEqual(read(apiExports, { metadata }), { metadata })
  })

  for (const [what, object] of Object.entries({
    'a required field': { spec: {} },
    'its spec': {},
    'a spec of the right type': { spec: 5 },
    'conditions of the right type': {
      spec: { version: 'v1', resource: 'a' },
      status: { conditions: [null] },
    },
  }))
    it(`are nothing without ${what}`, () => assert.equal(read(clusterCachedResources, object), undefined))

  it('are nothing with rules, or metadata, of the wrong type', () => {
    assert.equal(read(clusterRoles, { rules: [5] }), undefined)
    assert.equal(read(clusterRoles, { metadata: { name: 'a', labels: { x: 5 } } }), undefined)
  })

  it('are nothing with a name or a logical cluster that is part of a key', () => {
    for (const name of ['', 'a/b', '..'])
      assert.equal(read(clusterRoles, { metadata: { name } }), undefined, name)
    assert.equal(read(clusterRoles, {}, 'abc/def'), undefined)
  })
})
