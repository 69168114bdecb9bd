import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resourceOfSchema } from './apiexport.ts'
import { conversions } from './conversions.ts'
import { claimKey, overhang } from './overhang.ts'

const convert = (resource: 'apiexports' | 'apibindings', object: KubeObject, version: string): KubeObject => {
  const to = conversions.get(`${resource}.apis.kcp.io`)
  assert.ok(to)
  return to(object, version)
}

const exportOf = (version: string, spec: object, annotations?: Record<string, string>): KubeObject => ({
  apiVersion: `apis.kcp.io/${version}`,
  kind: 'APIExport',
  metadata: { name: 'widgets', ...(annotations === undefined ? {} : { annotations }) },
  spec,
})

const bindingOf = (version: string, spec: object, status?: object): KubeObject => ({
  apiVersion: `apis.kcp.io/${version}`,
  kind: 'APIBinding',
  metadata: { name: 'widgets' },
  spec: { reference: { export: { path: 'root:org', name: 'widgets' } }, ...spec },
  ...(status === undefined ? {} : { status }),
})

const name = fc.constantFrom('configmaps', 'secrets', 'widgets', 'events')
const group = fc.constantFrom('', 'example.io', 'apps')
const verbs = fc.oneof(fc.constant(['*']), fc.constant(['get', 'list']), fc.constant(['*', 'get']))
const selector = fc.oneof(
  fc.constant({ matchAll: true }),
  fc.constant({ matchLabels: { tier: 'front' } }),
  fc.constant({ matchExpressions: [{ key: 'a', operator: 'Exists' }] }),
)
const identity = {
  group,
  resource: name,
  identityHash: fc.constantFrom('', 'beef'),
}
const state = fc.constantFrom('Accepted', 'Rejected')
const plain = { noNullPrototype: true } as const
const claims = <T extends { group: string; resource: string; identityHash: string }>(one: fc.Arbitrary<T>) =>
  fc.uniqueArray(one, { selector: claimKey, maxLength: 5 })
const exportClaimsV2 = claims(
  fc.record(
    { ...identity, verbs, defaultSelector: selector },
    { noNullPrototype: true, requiredKeys: ['group', 'resource', 'identityHash', 'verbs'] },
  ),
)
const bindingClaimsV2 = claims(fc.record({ ...identity, verbs, selector, state }, plain))
const v1Scope = fc.oneof(
  fc.constant({ all: true }),
  fc.constant({ resourceSelector: [{ name: 'a', namespace: 'b' }] }),
)
const exportClaimsV1 = claims(
  fc.tuple(fc.record(identity, plain), v1Scope).map(([id, scope]) => ({ ...id, ...scope })),
)
const bindingClaimsV1 = claims(
  fc.tuple(fc.record({ ...identity, state }, plain), v1Scope).map(([id, scope]) => ({ ...id, ...scope })),
)
const resources = fc
  .uniqueArray(fc.tuple(name, group, fc.boolean()), { selector: ([n, g]) => `${n}.${g}`, maxLength: 4 })
  .map(list =>
    list
      .toSorted((a, b) => Number(a[2]) - Number(b[2]))
      .map(([n, g, isVirtual]) => ({
        name: n,
        group: g,
        schema: `v1.${n}.${g || 'core'}`,
        storage: isVirtual ? { virtual: { identityHash: 'feed' } } : { crd: {} },
      })),
  )

describe('conversion of exports', () => {
  it('splits schema names', () => {
    assert.deepEqual(resourceOfSchema('today.widgets.example.io'), {
      name: 'widgets',
      group: 'example.io',
      schema: 'today.widgets.example.io',
      storage: { crd: {} },
    })
    assert.equal(resourceOfSchema('v1.configmaps.core').group, '')
    assert.throws(() => resourceOfSchema('v1.widgets'), {
      message: 'invalid schema "v1.widgets": must have at least 3 dot-separated segments',
    })
  })
  it('moves fields that v1alpha1 lacks to annotations', () => {
    const claim = { group: '', resource: 'configmaps', verbs: ['get'], identityHash: '' }
    const v1 = convert('apiexports', exportOf('v1alpha2', { permissionClaims: [claim] }), 'v1alpha1')
    assert.deepEqual(v1.spec, { permissionClaims: [{ group: '', resource: 'configmaps', identityHash: '' }] })
    assert.deepEqual(v1.metadata.annotations, { [overhang.exportClaims]: JSON.stringify([claim]) })
  })
  it('refuses annotations that are no lists, but only on the way in', () => {
    const broken = { [overhang.resourceSchemas]: '{', [overhang.v1Claims]: '{' }
    assert.throws(() => convert('apiexports', exportOf('v1alpha1', {}, broken), 'v1alpha2'), {
      message:
        'apiexports.apis.kcp.io "widgets" is forbidden: metadata.annotations[apis.v1alpha2.kcp.io/resource-schemas]: Invalid value: "{": failed to decode overhanging resource schemas',
    })
    assert.equal(
      convert('apiexports', exportOf('v1alpha2', {}, broken), 'v1alpha1').metadata.annotations,
      undefined,
    )
  })
  for (const [what, text, isRead] of [
    ['null', '[null]', true],
    ['numbers', '[1]', false],
    ['lists', '[[]]', false],
    ['resources that are no texts', '[{"resource":{"toString":1}}]', false],
    ['too many levels', `[{"resource":"a","all":${'['.repeat(100_000)}${']'.repeat(100_000)}}]`, false],
  ] as const)
    it(`shows objects whose annotations have ${what}`, () => {
      const claims = { permissionClaims: [{ group: '', resource: 'configmaps', verbs: ['*'] }] }
      const shown = exportOf('v1alpha1', { permissionClaims: [{ group: '', resource: 'configmaps' }] })
      const broken = exportOf('v1alpha2', claims, { [overhang.v1Claims]: text })
      assert.deepEqual(convert('apiexports', broken, 'v1alpha1'), shown)
      const written = () =>
        convert('apiexports', exportOf('v1alpha1', claims, { [overhang.exportClaims]: text }), 'v1alpha2')
      if (isRead) assert.equal(written().metadata.annotations, undefined)
      else assert.throws(written, /failed to decode overhanging permission claims$/)
    })

  it('returns the same object for its own version', () => {
    const object = exportOf('v1alpha2', {})
    assert.equal(convert('apiexports', object, 'v1alpha2'), object)
  })
  it('loses nothing from v1alpha2 to v1alpha1 and back', () => {
    fc.assert(
      fc.property(resources, exportClaimsV2, (list, permissionClaims) => {
        const object = exportOf('v1alpha2', {
          ...(list.length > 0 ? { resources: list } : {}),
          permissionClaims,
        })
        assert.deepEqual(convert('apiexports', convert('apiexports', object, 'v1alpha1'), 'v1alpha2'), object)
      }),
    )
  })
  it('loses nothing from v1alpha1 to v1alpha2 and back', () => {
    fc.assert(
      fc.property(exportClaimsV1, permissionClaims => {
        const object = exportOf('v1alpha1', {
          latestResourceSchemas: ['a.widgets.example.io'],
          permissionClaims,
        })
        assert.deepEqual(convert('apiexports', convert('apiexports', object, 'v1alpha2'), 'v1alpha1'), object)
      }),
    )
  })
})

describe('conversion of bindings', () => {
  it('takes an empty selector for matchAll and any verb', () => {
    const claim = { resource: 'secrets', all: false, state: 'Accepted' }
    const v2 = convert('apibindings', bindingOf('v1alpha1', { permissionClaims: [claim] }), 'v1alpha2')
    assert.deepEqual((v2.spec as { permissionClaims: unknown }).permissionClaims, [
      { resource: 'secrets', verbs: ['*'], selector: { matchAll: true }, state: 'Accepted' },
    ])
  })
  it('loses nothing from v1alpha2 to v1alpha1 and back', () => {
    fc.assert(
      fc.property(bindingClaimsV2, exportClaimsV2, (permissionClaims, exportPermissionClaims) => {
        const appliedPermissionClaims = permissionClaims.map(({ state: _, ...claim }) => claim)
        const status = { phase: 'Bound', exportPermissionClaims, appliedPermissionClaims }
        const object = bindingOf('v1alpha2', { permissionClaims }, status)
        assert.deepEqual(
          convert('apibindings', convert('apibindings', object, 'v1alpha1'), 'v1alpha2'),
          object,
        )
      }),
    )
  })
  it('loses nothing from v1alpha1 to v1alpha2 and back', () => {
    fc.assert(
      fc.property(bindingClaimsV1, permissionClaims => {
        const object = bindingOf('v1alpha1', { permissionClaims })
        assert.deepEqual(
          convert('apibindings', convert('apibindings', object, 'v1alpha2'), 'v1alpha1'),
          object,
        )
      }),
    )
  })
})
