import assert from 'node:assert/strict'
import { type Action, allow, noOpinion } from '../../../framework/authorizer.ts'
import type { ResourceRef } from '../../../framework/backend.ts'
import type { RequestContext } from '../../../framework/context.ts'
import type { KubeObject } from '../../../framework/object.ts'
import { isPrivileged, loopback, type UserInfo } from '../../../framework/user.ts'
import { exportHash } from '../../../openapi/labels.ts'
import { bootstrap } from '../../bootstrap/bootstrap.ts'
import type { TenancyResources } from '../../controllers/deps.ts'
import { type LogicalCluster, resources, type Workspace } from '../../controllers/objects.ts'
import { kcpParts } from '../../kcp.ts'
import { openMemoryStore } from '../../store/memory.ts'
import { type TestShard, testShard } from '../../testing/shard.ts'

const url = 'https://localhost:6443'
const addresses = { name: 'root', baseURL: url, externalURL: url, virtualWorkspaceURL: url }

const alice: UserInfo = { name: 'alice', uid: '7', groups: ['dev'], extra: { team: ['a'] } }
const bob: UserInfo = { name: 'bob', groups: [] }
/** Alice may bind and use; the system may do everything. */
const authorize = async (user: UserInfo, { verb }: Action) =>
  isPrivileged(user) || (user.name === 'alice' && (verb === 'bind' || verb === 'use'))
    ? allow('')
    : noOpinion('')

let shard: TestShard
let tenancy: TenancyResources

const contextFor = (user: UserInfo, ref: ResourceRef): RequestContext => ({
  ...shard.context(ref, 'root'),
  user,
  actAs: user,
})
const options = { dryRun: false, fieldManager: '' }
const keyOf = (name: string) => ({ cluster: 'root', namespace: '', name })

async function create(user: UserInfo, ref: ResourceRef, object: KubeObject): Promise<KubeObject> {
  const storage = shard.backend.storage(ref)
  const key = keyOf(object.metadata.name ?? '')
  return (await storage.create(contextFor(user, ref), key, object, options)).object
}

async function update(
  user: UserInfo,
  ref: ResourceRef,
  name: string,
  change: (object: KubeObject) => KubeObject,
): Promise<KubeObject> {
  const storage = shard.backend.storage(ref)
  const item = await storage.update(
    contextFor(user, ref),
    keyOf(name),
    ({ object }) => change(object),
    options,
  )
  return item.object
}

const workspace = (name: string, spec: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name, ...metadata },
  spec,
})
const refusal = (subject: string, text: string) => ({
  code: 403,
  message: `${subject} is forbidden: ${text}`,
})
const aboutWorkspace = (name: string, text: string) => refusal(`workspaces.tenancy.kcp.io "${name}"`, text)

before(async () => {
  const store = openMemoryStore()
  tenancy = await bootstrap({ store, shard: addresses })
  shard = await testShard({
    store,
    authorizer: () => ({ authorize }),
    ...kcpParts({ tenancy, shard: addresses, rootCA: '' }),
  })
})
after(async () => {
  await shard.stop()
  await shard.store.close()
})

describe('admission of workspaces', () => {
  it('records who makes one, and resolves its type', async () => {
    const made = await create(alice, tenancy.workspaces, workspace('a'))
    assert.equal(
      made.metadata.annotations?.['experimental.tenancy.kcp.io/owner'],
      '{"username":"alice","uid":"7","groups":["dev"],"extra":{"team":["a"]}}',
    )
    assert.deepEqual((made as Workspace).spec?.type, { name: 'organization', path: 'root' })
  })
  it('records no owner for the system', async () => {
    const made = await create(loopback, tenancy.workspaces, workspace('system'))
    assert.equal(made.metadata.annotations?.['experimental.tenancy.kcp.io/owner'], undefined)
  })
  it('lets nobody choose the logical cluster', async () => {
    const annotation = 'internal.tenancy.kcp.io/cluster'
    const metadata = { annotations: { [annotation]: 'mine', other: 'kept' } }
    const made = await create(alice, tenancy.workspaces, workspace('mine', {}, metadata))
    assert.notEqual(made.metadata.annotations?.[annotation], 'mine')
    assert.equal(made.metadata.annotations?.other, 'kept')
  })
  const refused: Record<string, [user: UserInfo, spec: object, text: string]> = {
    'a cluster': [alice, { cluster: 'x' }, 'spec.Cluster can only be set by system privileged users'],
    'a URL': [alice, { URL: 'https://x' }, 'spec.URL can only be set by system privileged users'],
    'an unknown type': [alice, { type: { name: 'none' } }, 'workspace type "none" cannot be resolved'],
    'an unknown type somewhere': [
      alice,
      { type: { name: 'none', path: 'root:x' } },
      'workspace type "root:x:none" cannot be resolved',
    ],
    'a type without permission': [
      bob,
      { type: { name: 'universal', path: 'root' } },
      `unable to use workspace type root:universal: missing verb='use' permission on workspacetype`,
    ],
    'a type that has no parents': [
      alice,
      { type: { name: 'home', path: 'root' } },
      'workspace type root:home cannot have any parent',
    ],
    'a type for other parents': [
      alice,
      { type: { name: 'team', path: 'root' } },
      'workspace type root:team only allows [root:organization root:team] parent workspaces, ' +
        'but parent type root:root only implements [root:root root:universal]',
    ],
  }
  for (const [what, [user, spec, text]] of Object.entries(refused)) {
    it(`refuses ${what}`, () =>
      assert.rejects(create(user, tenancy.workspaces, workspace('w', spec)), aboutWorkspace('w', text)))
  }
  it('keeps type and place', async () => {
    await create(alice, tenancy.workspaces, workspace('fixed', { type: { name: 'universal' } }))
    const change = (spec: object) =>
      update(alice, tenancy.workspaces, 'fixed', object => ({
        ...object,
        spec: { ...(object.spec as object), ...spec },
      }))
    await assert.rejects(change({ type: { name: 'team', path: 'root' } }), {
      code: 422,
      message: 'Workspace.tenancy.kcp.io "fixed" is invalid: spec.type: Invalid value: name is immutable',
    })
    await assert.rejects(change({ cluster: 'x' }), {
      code: 422,
      message:
        'Workspace.tenancy.kcp.io "fixed" is invalid: spec.cluster: Invalid value: "x": cluster is immutable',
    })
  })
})

describe('admission of logical clusters', () => {
  const about = (text: string) => refusal('logicalclusters.core.kcp.io "cluster"', text)
  const change = (change: (object: LogicalCluster) => LogicalCluster, subresource = '') =>
    update(alice, { ...resources.logicalClusters, subresource }, 'cluster', object =>
      change(object as LogicalCluster),
    )
  it('is not for users to delete', () =>
    assert.rejects(
      shard.backend
        .storage(resources.logicalClusters)
        .delete(contextFor(alice, resources.logicalClusters), keyOf('cluster'), () => undefined, {
          dryRun: false,
        }),
      about('LogicalCluster cannot be deleted'),
    ))
  it('keeps what was decided at creation', async () => {
    await assert.rejects(
      change(object => ({ ...object, spec: { ...object.spec, initializers: ['root:other'] } })),
      about('spec.initializers is immutable'),
    )
    await assert.rejects(
      change(object => ({ ...object, spec: { ...object.spec, createdBy: { username: 'eve' } } })),
      about('spec.createdBy: Invalid value: {"username":"eve"}: field is immutable'),
    )
  })
  it('does not go back', () =>
    assert.rejects(
      change(object => ({ ...object, status: { ...object.status, phase: 'Scheduling' } }), 'status'),
      about('cannot transition from "Ready" to "Scheduling"'),
    ))
  it('keeps the annotations that the system believes', async () => {
    const kept = await change(object => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'kcp.io/path': 'root:other' } },
    }))
    assert.equal(kept.metadata.annotations?.['kcp.io/path'], 'root')
    assert.equal(kept.metadata.annotations?.['internal.tenancy.kcp.io/type'], 'root:root')
  })
  it('keeps its finalizer', async () => {
    const kept = await change(object => ({ ...object, metadata: { ...object.metadata, finalizers: [] } }))
    assert.deepEqual(kept.metadata.finalizers, ['core.kcp.io/logicalcluster-deletion'])
  })
})

describe('admission of exports, bindings and slices', () => {
  const exported = (name: string, spec: object = {}): KubeObject => ({
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIExport',
    metadata: { name },
    spec,
  })
  const binding = (name: string, path: string, spec: object = {}): KubeObject => ({
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: { name },
    spec: { reference: { export: { path, name: 'e' } }, ...spec },
  })
  const aboutBinding = (name: string, text: string) => refusal(`apibindings.apis.kcp.io "${name}"`, text)
  before(() => create(alice, resources.apiExports, exported('e')))

  it('puts the path on exports', async () => {
    const made = await create(alice, resources.apiExports, exported('path'))
    assert.equal(made.metadata.annotations?.['kcp.io/path'], 'root')
  })
  it('wants to know whose resource is claimed', async () => {
    const claims = [{ group: 'example.io', resource: 'widgets', verbs: ['*'], identityHash: '' }]
    await assert.rejects(
      create(alice, resources.apiExports, exported('c', { permissionClaims: claims })),
      refusal(
        'apiexports.apis.kcp.io "c"',
        'spec.permissionClaims[0].identityHash: Invalid value: "": identityHash is required for API types that are not built-in',
      ),
    )
  })
  it('labels a binding, gives it its finalizer and path', async () => {
    const { metadata } = await create(alice, resources.apiBindings, binding('ok', 'root'))
    assert.equal(metadata.labels?.['internal.apis.kcp.io/export'], exportHash({ cluster: 'root', name: 'e' }))
    assert.deepEqual(metadata.finalizers, ['apis.kcp.io/apibinding-finalizer'])
    assert.equal(metadata.annotations?.['kcp.io/path'], 'root')
  })
  it('says the same about what is missing and what is not permitted', async () => {
    const text = (path: string) => `unable to create APIBinding: no permission to bind to export ${path}:e`
    await assert.rejects(
      create(bob, resources.apiBindings, binding('no', 'root')),
      aboutBinding('no', text('root')),
    )
    await assert.rejects(
      create(alice, resources.apiBindings, binding('no', 'root:nowhere')),
      aboutBinding('no', text('root:nowhere')),
    )
  })
  it('takes claims that select in one way', async () => {
    const claims = (selector: object) => ({
      permissionClaims: [{ resource: 'secrets', verbs: ['*'], state: 'Accepted', selector }],
    })
    const both = { matchAll: true, matchLabels: { a: 'b' } }
    await assert.rejects(create(alice, resources.apiBindings, binding('both', 'root', claims(both))), {
      code: 403,
      message: /matchLabels cannot be used with matchAll/,
    })
    await assert.rejects(create(alice, resources.apiBindings, binding('none', 'root', claims({}))), {
      code: 403,
      message: /either one of matchAll, matchLabels, or matchExpressions must be set/,
    })
  })
  it('keeps the reference of a binding', async () => {
    await create(alice, resources.apiBindings, binding('kept', 'root'))
    const elsewhere = { reference: { export: { path: 'root', name: 'path' } } }
    await assert.rejects(
      update(alice, resources.apiBindings, 'kept', object => ({ ...object, spec: elsewhere })),
      { code: 422, message: /APIExport reference must not be changed/ },
    )
  })
  it('lets nobody hide what a label says', async () => {
    const label = 'internal.apis.kcp.io/export'
    await create(alice, resources.apiBindings, binding('forged', 'root'))
    const { metadata } = await update(alice, resources.apiBindings, 'forged', object => ({
      ...object,
      metadata: { ...object.metadata, labels: { [label]: 'x' } },
    }))
    assert.equal(metadata.labels?.[label], exportHash({ cluster: 'root', name: 'e' }))
  })
  it('asks for the right to bind for a slice', () =>
    assert.rejects(
      create(bob, resources.endpointSlices, {
        apiVersion: 'apis.kcp.io/v1alpha1',
        kind: 'APIExportEndpointSlice',
        metadata: { name: 's' },
        spec: { export: { path: 'root', name: 'e' } },
      }),
      refusal(
        'apiexportendpointslices.apis.kcp.io "s"',
        'unable to create APIExportEndpointSlice: no permission to bind to export root:e',
      ),
    ))
  it('checks schemas', () =>
    assert.rejects(
      create(alice, resources.apiResourceSchemas, {
        apiVersion: 'apis.kcp.io/v1alpha1',
        kind: 'APIResourceSchema',
        metadata: { name: 'wrong' },
        spec: {
          group: 'example.io',
          names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
          scope: 'Cluster',
          versions: [{ name: 'v1', served: true, storage: true, schema: { type: 'object' } }],
        },
      }),
      refusal(
        'apiresourceschemas.apis.kcp.io "wrong"',
        'metadata.name: Invalid value: "wrong": must end in .widgets.example.io',
      ),
    ))
  it('reserves kcp’s own group', () =>
    assert.rejects(
      create(alice, resources.crds, {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'things.apis.kcp.io', annotations: { 'api-approved.kubernetes.io': 'unapproved' } },
        spec: {
          group: 'apis.kcp.io',
          names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
          scope: 'Cluster',
          versions: [
            { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
          ],
        },
      }),
      refusal(
        'customresourcedefinitions.apiextensions.k8s.io "things.apis.kcp.io"',
        'apis.kcp.io is a reserved group',
      ),
    ))
})

describe('admission of authentication configurations', () => {
  const configurations = () => ({
    ...tenancy.workspaceTypes,
    resource: 'workspaceauthenticationconfigurations',
  })
  const configuration = (name: string, ...jwt: readonly object[]): KubeObject => ({
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'WorkspaceAuthenticationConfiguration',
    metadata: { name },
    spec: { jwt },
  })
  const groups = { claim: 'groups', prefix: '' }
  const entry = (expression: string, issuer: object = {}) => ({
    issuer: { url: 'https://idp.example.com', audiences: ['a'], ...issuer },
    claimMappings: { username: { expression }, groups },
  })
  const warningsOf = async (object: KubeObject): Promise<readonly string[]> => {
    const before = shard.warnings.length
    await create(loopback, configurations(), object)
    return shard.warnings.slice(before)
  }

  it('says nothing about what can be used', async () => {
    assert.deepEqual(await warningsOf(configuration('good', entry('claims.sub'))), [])
  })

  it('warns of what lets nobody in', async () => {
    const nonsense = entry("concat('oidc:', email)")
    const [why, ...more] = await warningsOf(configuration('nonsense', entry('claims.sub'), nonsense))
    assert.match(
      why ?? '',
      /^this issuer will not be used: spec.jwt\[1\].claimMappings.username.expression: /,
    )
    assert.deepEqual(more, [])
    const [plain] = await warningsOf(
      configuration('plain', entry('claims.sub', { url: 'http://idp.example.com' })),
    )
    assert.match(plain ?? '', /URL scheme must be https/)
    const [silent] = await warningsOf(configuration('nobody', entry('claims.sub', { audiences: [] })))
    assert.match(silent ?? '', /at least one spec.jwt\[0\].issuer.audiences is required/)
  })

  it('leaves what has another shape to its schema', async () => {
    for (const jwt of [7, [7], [{ issuer: 'a' }], [{ claimMappings: { extra: {} } }]])
      await assert.rejects(
        create(loopback, configurations(), { ...configuration('shapeless'), spec: { jwt } }),
        { code: 422 },
      )
  })
})
