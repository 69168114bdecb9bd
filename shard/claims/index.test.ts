import assert from 'node:assert/strict'
import type { ItemEvent } from '../../framework/contract/item.ts'
import type { APIBinding } from '../../kcp/apis.ts'
import type { AcceptablePermissionClaim } from '../../kcp/claims.ts'
import { exportHash, exportLabel, reflexiveClaimValue } from '../../kcp/labels.ts'
import type { StoredResource } from '../cache/codec.ts'
import { createClaimsIndex } from './index.ts'

const hash = exportHash({ cluster: 'abcd1234', name: 'my-export' })
const key = `claimed.internal.apis.kcp.io/${hash}`
const configmaps: StoredResource = { group: '', resource: 'configmaps', segment: '-' }
const configmapsValue = '3QVjs6pfBjMpLEVYYhysJnroYGsQGlWm05E4qe'

const claim = (more: Partial<AcceptablePermissionClaim> = {}): AcceptablePermissionClaim => ({
  resource: 'configmaps',
  verbs: ['*'],
  selector: { matchAll: true },
  state: 'Accepted',
  ...more,
})

const binding = (claims: readonly AcceptablePermissionClaim[]): APIBinding => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name: 'b', labels: { [exportLabel]: hash } },
  spec: { reference: { export: { path: 'root:org', name: 'my-export' } }, permissionClaims: claims },
})

const meta = (cluster: string) => ({
  cluster,
  namespace: '',
  name: 'b',
  uid: '',
  resourceVersion: '1',
  labels: {},
  annotations: {},
})

const event = (type: ItemEvent['type'], cluster: string, object: APIBinding): ItemEvent => ({
  type,
  item: { key: { cluster, namespace: '', name: 'b' }, meta: meta(cluster), bytes: Buffer.alloc(0), object },
})

describe('claims index', () => {
  it('labels the objects of an accepted claim, in that cluster only', () => {
    const index = createClaimsIndex()
    assert.deepEqual(index.apply(event('ADDED', 'c1', binding([claim()]))), [configmaps])
    assert.deepEqual(index.labels(configmaps, 'c1', {}), { [key]: configmapsValue })
    assert.equal(index.labels(configmaps, 'c2', {}), undefined)
    assert.equal(index.labels({ ...configmaps, resource: 'secrets' }, 'c1', {}), undefined)
  })
  it('removes rejected and deleted claims, and reports them once', () => {
    const index = createClaimsIndex()
    index.apply(event('ADDED', 'c1', binding([claim()])))
    const rejected = event('MODIFIED', 'c1', binding([claim({ state: 'Rejected' })]))
    assert.deepEqual(index.apply(rejected), [configmaps])
    assert.deepEqual(index.apply(rejected), [])
    assert.equal(index.labels(configmaps, 'c1', {}), undefined)
    index.apply(event('MODIFIED', 'c1', binding([claim()])))
    assert.deepEqual(index.apply(event('DELETED', 'c1', binding([claim()]))), [configmaps])
  })
  it('has another value without a verb that reads many objects, and changes with the verbs', () => {
    const index = createClaimsIndex()
    for (const [verbs, value] of [
      [['create', 'get'], `${configmapsValue}-unlisted`],
      [['get', 'list'], configmapsValue],
      [['delete'], `${configmapsValue}-unlisted`],
      [['watch'], configmapsValue],
    ] as const) {
      const accepted = event('MODIFIED', 'c1', binding([claim({ verbs })]))
      assert.deepEqual(index.apply(accepted), [configmaps])
      assert.deepEqual(index.labels(configmaps, 'c1', {}), { [key]: value })
    }
  })

  it('follows selectors', () => {
    const index = createClaimsIndex()
    const selector = {
      matchLabels: { tier: 'front' },
      matchExpressions: [{ key: 'old', operator: 'DoesNotExist' as const }],
    }
    index.apply(event('ADDED', 'c1', binding([claim({ selector })])))
    assert.deepEqual(index.labels(configmaps, 'c1', { tier: 'front' }), { [key]: configmapsValue })
    assert.equal(index.labels(configmaps, 'c1', { tier: 'front', old: '' }), undefined)
    assert.equal(index.labels(configmaps, 'c1', {}), undefined)
  })
  it('shows a provider nothing by a selector that Kubernetes refuses', () => {
    const index = createClaimsIndex()
    const expression = { key: 'team', operator: 'in', values: ['blue'] }
    const selector = {
      matchExpressions: [expression],
    } as unknown as Required<AcceptablePermissionClaim>['selector']
    index.apply(event('ADDED', 'c1', binding([claim({ selector })])))
    assert.equal(index.labels(configmaps, 'c1', { team: 'red' }), undefined)
  })
  it('distinguishes resources of the same name by identity', () => {
    const index = createClaimsIndex()
    const claims = [claim({ group: 'example.io', resource: 'widgets', identityHash: 'beef' })]
    index.apply(event('ADDED', 'c1', binding(claims)))
    const widgets = { group: 'example.io', resource: 'widgets', segment: 'beef' }
    assert.ok(index.labels(widgets, 'c1', {}))
    assert.equal(index.labels({ ...widgets, segment: 'feed' }, 'c1', {}), undefined)
  })
  it('treats both groups of events as one', () => {
    const index = createClaimsIndex()
    index.apply(event('ADDED', 'c1', binding([claim({ group: 'events.k8s.io', resource: 'events' })])))
    assert.deepEqual(index.labels({ group: '', resource: 'events', segment: '-' }, 'c1', {}), {
      [key]: '6wBCe82Znnoj6Q9mzomQQpfSdtDfiATwZW1ePT',
    })
  })
  it('marks a binding for its own export, unless it is claimed', () => {
    const index = createClaimsIndex()
    const bindings = { group: 'apis.kcp.io', resource: 'apibindings', segment: 'customresources' }
    const labels = { [exportLabel]: hash }
    assert.deepEqual(index.labels(bindings, 'c1', labels), { [key]: reflexiveClaimValue })
    index.apply(event('ADDED', 'c1', binding([claim({ group: 'apis.kcp.io', resource: 'apibindings' })])))
    assert.deepEqual(index.labels(bindings, 'c1', labels), {
      [key]: '6719jSXePkPLHBgcm4bCDNiA7asY6qpDrj7oWS',
    })
  })
})
