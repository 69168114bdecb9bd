import assert from 'node:assert/strict'
import { dependencyOn, KeptApis } from './exports.ts'

type Of = { readonly name: string }

describe('kept ApiSets', () => {
  const plans: string[] = []
  const replaced: string[] = []
  const versions = new Map<string, string>()
  const key = (name: string) => dependencyOn('export', { cluster: 'root', name })
  const apis = new KeptApis<Of>(
    ({ name }) => {
      plans.push(name)
      const version = versions.get(name)
      return version === undefined
        ? undefined
        : { version, dependsOn: [key(name), key(version)], resources: () => [] }
    },
    ({ name }) => void replaced.push(name),
  )
  beforeEach(() => {
    for (const name of ['a', 'b', 'c']) versions.set(name, 'shared')
    for (const name of ['a', 'b', 'c']) apis.refresh([key(name)])
    for (const name of ['a', 'b', 'c']) apis.of({ name })
    plans.length = 0
    replaced.length = 0
  })

  it('are the same objects until they change', () => {
    const first = apis.of({ name: 'a' })
    apis.refresh([key('a')])
    assert.equal(apis.of({ name: 'a' }), first)
    versions.set('a', 'other')
    apis.refresh([key('a')])
    assert.notEqual(apis.of({ name: 'a' }), first)
    assert.deepEqual(replaced, ['a'])
  })

  it('are planned again only where something has changed that they depend on', () => {
    apis.refresh([key('b'), key('unknown')])
    assert.deepEqual(plans, ['b'])
    apis.refresh([key('shared')])
    assert.deepEqual(plans.slice(1).toSorted(), ['a', 'b', 'c'])
  })

  it('depend on what they are made of now', () => {
    versions.set('a', 'other')
    apis.refresh([key('a')])
    apis.of({ name: 'a' })
    plans.length = 0
    apis.refresh([key('other')])
    assert.deepEqual(plans, ['a'])
    versions.delete('a')
    apis.refresh([key('other')])
    assert.equal(apis.of({ name: 'a' }), undefined)
  })

  it('end their watches when they are replaced', () => {
    const set = apis.of({ name: 'c' })
    assert.equal(set?.replaced?.aborted, false)
    versions.set('c', 'other')
    apis.refresh([key('c')])
    assert.equal(set?.replaced?.aborted, true)
  })
})
