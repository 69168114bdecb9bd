import assert from 'node:assert/strict'
import { itemOf } from '../../../framework/contract/item.ts'
import { resourceBindingsAnnotation } from '../../../kcp/annotations.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import { holderOf } from '../../bindings/holders.ts'
import { withLocks } from './metadata.ts'

const binding = (name: string, resource: string) => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name },
  status: { boundResources: [{ group: 'example.com', resource }] },
})

describe('the owners of bound resources', () => {
  it('are those of all bindings, each of which is decoded once', () => {
    let decoded = 0
    const items = [binding('b', 'widgets'), binding('a', 'gadgets')].map(object => {
      const { key, meta, bytes } = itemOf(object, 'c1')
      return {
        key,
        meta,
        bytes,
        get object() {
          decoded++
          return object
        },
      }
    })
    const cluster = { metadata: { name: 'cluster' }, status: { phase: 'Ready' } } as LogicalCluster
    for (let i = 0; i < 3; i++) {
      const { annotations } = withLocks(cluster, items.map(holderOf)).metadata
      assert.equal(
        annotations?.[resourceBindingsAnnotation],
        '{"gadgets.example.com":{"n":"a"},"widgets.example.com":{"n":"b"}}',
      )
    }
    assert.equal(decoded, 2)
  })
})
