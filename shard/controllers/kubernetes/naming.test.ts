import assert from 'node:assert/strict'
import type { Informers } from '../../../framework/contract/informer.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { asCrd, conditionOf } from '../../registry/crd.ts'
import { countingInformer } from '../../testing/countinginformer.ts'
import { namingStatus, takenNames } from './naming.ts'

const definition = (i: number, kind = `K${i}`): KubeObject => {
  const names = { plural: `k${i}s`, singular: `k${i}`, kind, listKind: `${kind}List` }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `k${i}s.example.com` },
    spec: { group: 'example.com', names },
    status: { acceptedNames: names },
  }
}

const none = { for: () => countingInformer([]).informer } as unknown as Informers

describe('names of definitions', () => {
  const all = Array.from({ length: 500 }, (_, i) => definition(i))
  const { reads, informer } = countingInformer(all)
  const taken = takenNames(informer, none)
  const stateOf = (crd: KubeObject): string | undefined =>
    conditionOf(namingStatus(asCrd(crd), taken('root', asCrd(crd))), 'NamesAccepted')?.reason

  it('are compared with those of all others of their group, without reading these', () => {
    reads.count = 0
    assert.equal(stateOf(definition(7)), 'NoConflicts')
    assert.equal(stateOf(definition(1_000, 'K7')), 'ListKindConflict')
    assert.equal(reads.count, 0)
  })

  it('may be the same in another group', () => {
    const other = {
      ...definition(1_000, 'K7'),
      spec: { ...(definition(1_000, 'K7').spec as object), group: 'b.com' },
    }
    assert.equal(stateOf(other), 'NoConflicts')
  })
})
