import assert from 'node:assert/strict'
import { admissionChain, inOneVersion, type WriteAttributes } from '../../../framework/contract/admission.ts'
import { silent } from '../../../framework/contract/log.ts'
import type { KubeObject, RequestContext } from '../../../framework/index.ts'
import type {
  AcceptablePermissionClaim,
  APIBinding,
  APIExport,
  PermissionClaim,
  PermissionClaimSelector,
} from '../../../kcp/index.ts'
import { selectorAdmission } from './admission.ts'
import type { ExportParams, Exports } from './exports.ts'

const claimOf = (
  selector: PermissionClaimSelector,
  more: Partial<AcceptablePermissionClaim> = {},
): AcceptablePermissionClaim => ({
  group: '',
  resource: 'configmaps',
  verbs: ['*'],
  state: 'Accepted',
  selector,
  ...more,
})

/** The admission of a view whose consumer has this binding; undefined: it has none. */
function admissionWith(
  claims: readonly AcceptablePermissionClaim[] | undefined,
  exported: readonly PermissionClaim[] = claims ?? [],
) {
  const binding: APIBinding = {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: { name: 'widgets' },
    spec: { reference: { export: { name: 'widgets' } }, permissionClaims: claims ?? [] },
    status: {
      boundResources: [
        { group: 'example.com', resource: 'widgets', schema: { name: '', UID: '', identityHash: '' } },
      ],
    },
  }
  const provided: APIExport = {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIExport',
    metadata: { name: 'widgets' },
    spec: { permissionClaims: exported },
  }
  const exports: Pick<Exports, 'bindingIn' | 'find'> = {
    bindingIn: () => (claims === undefined ? undefined : binding),
    find: () => provided,
  }
  return admissionChain([selectorAdmission(exports as Exports)])
}

const contextOf = (resource: string, group: string, cluster: string): RequestContext<ExportParams> => {
  const user = { name: 'provider', groups: [] }
  const info = {
    isResource: true,
    verb: 'create',
    group,
    version: 'v1',
    resource,
    subresource: '',
    namespace: 'default',
    name: '',
    path: '/',
  } as const
  const record = { warn: () => undefined, annotate: () => undefined, log: silent }
  const { signal } = new AbortController()
  const params = { provider: 'p', name: 'widgets' }
  return { workspace: 'apiexport', params, cluster, info, user, actAs: user, hops: 0, signal, record }
}
const ctx = contextOf('configmaps', '', 'consumer')

const configMap = (labels?: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', ...(labels && { labels }) },
})
const attributes = {
  group: '',
  resource: 'configmaps',
  ...inOneVersion('v1'),
  subresource: '',
  key: { cluster: 'consumer', namespace: '', name: 'settings' },
  dryRun: false,
}
const creating = (object: KubeObject): WriteAttributes => ({ ...attributes, operation: 'CREATE', object })

describe('the selector of a claim', () => {
  const labelled = claimOf({ matchLabels: { shared: 'yes' } })
  const expressed = claimOf({ matchExpressions: [{ key: 'tier', operator: 'In', values: ['a', 'b'] }] })

  it('adds the labels that objects lack', async () => {
    const admitted = await admissionWith([labelled]).mutate(ctx, creating(configMap({ own: 'label' })))
    assert.deepEqual(admitted?.metadata.labels, { own: 'label', shared: 'yes' })
  })

  it('refuses a label with another value', async () => {
    const admission = admissionWith([labelled])
    await assert.rejects(admission.mutate(ctx, creating(configMap({ shared: 'no' }))), {
      message: 'configmaps "settings" is forbidden: protected label shared must have value yes',
    })
  })

  it('refuses writes that do not match expressions', async () => {
    const object = configMap()
    assert.deepEqual(
      (await admissionWith([expressed]).mutate(ctx, creating(object)))?.metadata.labels ?? {},
      {},
    )
  })

  const outside = { message: 'configmaps "settings" is forbidden: object does not match required labels' }
  it('refuses to create, update and delete outside of it', async () => {
    const admission = admissionWith([expressed])
    const object = configMap({ tier: 'c' })
    for (const request of [
      creating(object),
      { ...attributes, operation: 'UPDATE', object, old: configMap({ tier: 'a' }) },
      { ...attributes, operation: 'DELETE', old: object },
    ] as const)
      await assert.rejects(admission.validate(ctx, request), outside, request.operation)
  })

  it('allows writes within the selector', async () => {
    const admission = admissionWith([expressed])
    await admission.validate(ctx, creating(configMap({ tier: 'b' })))
    await admission.validate(ctx, { ...attributes, operation: 'DELETE', old: configMap({ tier: 'a' }) })
  })

  for (const [what, claims, where] of [
    ['everything is claimed', [claimOf({ matchAll: true })], ctx],
    ['the claim is not accepted', [claimOf({ matchLabels: { shared: 'yes' } }, { state: 'Rejected' })], ctx],
    [
      'the resource is bound',
      [claimOf({ matchLabels: { a: 'b' } }, { group: 'example.com', resource: 'widgets' })],
      contextOf('widgets', 'example.com', 'consumer'),
    ],
    ['all logical clusters are meant', [labelled], contextOf('configmaps', '', '*')],
  ] as const)
    it(`changes nothing when ${what}`, async () => {
      const object = configMap()
      assert.equal(await admissionWith(claims).mutate(where, creating(object)), object)
      await admissionWith(claims).validate(where, creating(object))
    })

  it('takes events of both groups for one', async () => {
    const claim = claimOf({ matchLabels: { shared: 'yes' } }, { resource: 'events' })
    const events = contextOf('events', 'events.k8s.io', 'consumer')
    const admitted = await admissionWith([claim]).mutate(events, creating(configMap()))
    assert.deepEqual(admitted?.metadata.labels, { shared: 'yes' })
  })

  it('is that of the claim with the identity that the export claims', async () => {
    const theirs = claimOf({ matchLabels: { theirs: 'yes' } }, { identityHash: 'other' })
    const ours = claimOf({ matchLabels: { ours: 'yes' } }, { identityHash: 'this' })
    const admitted = await admissionWith([theirs, ours], [ours]).mutate(ctx, creating(configMap()))
    assert.deepEqual(admitted?.metadata.labels, { ours: 'yes' })
  })

  it('refuses every write where there is no binding', async () => {
    await assert.rejects(admissionWith(undefined).mutate(ctx, creating(configMap())), {
      message: /could not find suitable apibinding in target logical cluster: no suitable binding found$/,
    })
  })
})
