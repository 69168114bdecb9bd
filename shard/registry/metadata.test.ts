import assert from 'node:assert/strict'
import type { Metadata } from '../../framework/meta/object.ts'
import { dedupOwners, finalizerWarnings, newMetadataErrors } from './metadata.ts'
import { kindStrategyOf } from './reststrategy.ts'
import type { ResourceStrategy } from './strategy.ts'
import { builtin, texts, widget, widgets } from './testing/widgets.ts'

describe('metadata validation', () => {
  const cases: readonly (readonly [what: string, metadata: Metadata, expected: RegExp | undefined])[] = [
    ['a good object', { namespace: 'ns', labels: { 'a.b/c': 'd' } }, undefined],
    [
      'no name',
      { namespace: 'ns', name: '' },
      /^metadata\.name: Required value: name or generateName is required$/,
    ],
    [
      'a capital',
      { namespace: 'ns', name: 'A' },
      /^metadata\.name: Invalid value: "A": a lowercase RFC 1123 subdomain must/,
    ],
    ['a generateName', { namespace: 'ns', generateName: 'a-' }, undefined],
    [
      'a bad generateName',
      { namespace: 'ns', generateName: 'AB-' },
      /^metadata\.generateName: Invalid value: "AB-"/,
    ],
    ['no namespace', {}, /^metadata\.namespace: Required value$/],
    [
      'a label key',
      { namespace: 'ns', labels: { 'a b': '' } },
      /^metadata\.labels: Invalid value: "a b": name part must consist/,
    ],
    [
      'a label value',
      { namespace: 'ns', labels: { a: '!' } },
      /^metadata\.labels: Invalid value: "!": a valid label must/,
    ],
    [
      'annotations',
      { namespace: 'ns', annotations: { a: 'x'.repeat(262_144) } },
      /^metadata\.annotations: Too long: may not be more than 262144 bytes$/,
    ],
    ['capital annotations', { namespace: 'ns', annotations: { 'Example.COM/A': '' } }, undefined],
    [
      'an owner',
      { namespace: 'ns', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '' }] },
      /^metadata\.ownerReferences\.uid: Invalid value: "": must not be empty$/,
    ],
    [
      'an owner version',
      { namespace: 'ns', ownerReferences: [{ apiVersion: 'a/', kind: 'K', name: 'x', uid: 'u' }] },
      /ownerReferences\.apiVersion: Invalid value: "a\/": version must not be empty$/,
    ],
    [
      'an event as owner',
      { namespace: 'ns', ownerReferences: [{ apiVersion: '/v1', kind: 'Event', name: 'x', uid: 'u' }] },
      /\/v1, Kind=Event is disallowed from being an owner$/,
    ],
    [
      'an owner with a malformed apiVersion',
      { namespace: 'ns', ownerReferences: [{ apiVersion: 'a/b/c', kind: 'K', name: 'x', uid: 'u' }] },
      /ownerReferences\.apiVersion: Invalid value: "a\/b\/c": version must not be empty$/,
    ],
    ['a finalizer', { namespace: 'ns', finalizers: ['a b'] }, /^metadata\.finalizers: Invalid value: "a b"/],
    [
      'both policies',
      { namespace: 'ns', finalizers: ['orphan', 'foregroundDeletion'] },
      /finalizer orphan and foregroundDeletion cannot be both set$/,
    ],
  ]
  for (const [what, metadata, expected] of cases) {
    it(`judges ${what}`, () => {
      const found = texts(newMetadataErrors(widgets, widget(metadata)))
      if (expected === undefined) assert.deepEqual(found, [])
      else assert.match(found.join('\n'), expected)
    })
  }

  it('reports at most a hundred problems of one list', () => {
    const many = (textOf: (i: number) => string) => Array.from({ length: 5_000 }, (_, i) => textOf(i))
    const texts = Object.fromEntries(many(i => `a b${i}`).map(key => [key, '']))
    for (const metadata of [
      { labels: texts },
      { annotations: texts },
      { finalizers: many(i => `a b${i}`) },
      { ownerReferences: many(String).map(name => ({ apiVersion: 'v1', kind: 'K', name, uid: '' })) },
    ])
      assert.equal(newMetadataErrors(widgets, widget({ namespace: 'ns', ...metadata })).length, 100)
  })

  it('allows one controller only', () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '1', controller: true }
    const ownerReferences = [owner, { ...owner, kind: 'Secret', name: 'y', uid: '2' }]
    const [found] = texts(newMetadataErrors(widgets, widget({ namespace: 'ns', ownerReferences })))
    assert.match(
      found ?? '',
      /Only one reference can have Controller set to true\. Found "true" in references for ConfigMap\/x and Secret\/y$/,
    )
  })

  it('asks for qualified finalizers of built-in kinds, definitions excepted', () => {
    const found = (strategy: ResourceStrategy) =>
      texts(
        newMetadataErrors(
          strategy,
          widget({ namespace: 'ns', finalizers: ['orphan', 'example.com/a', 'x'] }),
        ),
      )
    assert.deepEqual(found(widgets), [])
    const rest = kindStrategyOf('customresourcedefinitions.apiextensions.k8s.io')
    assert.deepEqual(found({ ...widgets, group: 'apiextensions.k8s.io', rest }), [])
    assert.deepEqual(found(builtin('configmaps', 'ConfigMap')), [
      'metadata.finalizers[2]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
    ])
  })

  it('takes any path segment as the name of a role, and labels only as the name of a namespace', () => {
    const named = (strategy: ResourceStrategy, name: string) =>
      texts(newMetadataErrors(strategy, widget({ name, namespace: 'ns' })))
    assert.deepEqual(
      named({ ...widgets, rest: kindStrategyOf('clusterroles.rbac.authorization.k8s.io') }, 'system:foo'),
      [],
    )
    assert.match(named(builtin('namespaces', 'Namespace'), 'a.b').join(), /must not contain dots$/)
  })

  it('warns about finalizers without a domain or a path, once per new one', () => {
    const next = widget({ finalizers: ['mine', 'example.com', 'example.com/ok', 'orphan'] })
    assert.equal(finalizerWarnings(widgets, next).length, 2)
    assert.deepEqual(finalizerWarnings(widgets, next, next), [])
    assert.match(
      finalizerWarnings(widgets, next)[0] ?? '',
      /"mine": prefer a domain-qualified finalizer name to avoid/,
    )
    assert.match(
      finalizerWarnings(widgets, next)[1] ?? '',
      /"example.com": prefer a domain-qualified finalizer name including a path \(\/\)/,
    )
  })

  it('takes time in proportion to the owners', () => {
    const ownerReferences = Array.from({ length: 40_000 }, (_, i) => ({
      apiVersion: 'v1',
      kind: 'Node',
      name: 'n',
      uid: `u${i}`,
    }))
    const object = widget({ ownerReferences: [...ownerReferences, ...ownerReferences] })
    assert.equal(dedupOwners(object).object.metadata.ownerReferences?.length, 40_000)
  })

  it('merges duplicate owner references, with a warning', () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u9' }
    const { object, warning } = dedupOwners(widget({ ownerReferences: [owner, owner] }))
    assert.deepEqual(object.metadata.ownerReferences, [owner])
    assert.match(warning ?? '', /duplicate UID\(s\) observed: u9$/)
  })
})
