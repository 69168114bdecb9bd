import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { loopback, type UserInfo } from '../../../framework/request/user.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import { resources } from '../../../kcp/resources.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { admitting, alice, bob, contextFor, create, keyOf, refusal, update } from './testing/admitting.ts'

const workspace = (name: string, spec: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name, ...metadata },
  spec,
})

const aboutWorkspace = (name: string, text: string) => refusal(`workspaces.tenancy.kcp.io "${name}"`, text)

describe('admission of workspaces', () => {
  const scene = admitting()
  it('records the owner, and resolves the type', async () => {
    const made = await create(scene, alice, scene.tenancy.workspaces, workspace('a'))
    assert.equal(
      made.metadata.annotations?.['experimental.tenancy.kcp.io/owner'],
      '{"username":"alice","uid":"7","groups":["dev"],"extra":{"team":["a"]}}',
    )
    assert.deepEqual((made as Workspace).spec?.type, { name: 'organization', path: 'root' })
  })
  it('records no owner for requests of the system', async () => {
    const made = await create(scene, loopback, scene.tenancy.workspaces, workspace('system'))
    assert.equal(made.metadata.annotations?.['experimental.tenancy.kcp.io/owner'], undefined)
  })
  it('names the types that the user was permitted to use, whatever the user names', async () => {
    const annotation = 'internal.oriel.dev/workspace-types'
    const { workspaces } = scene.tenancy
    const metadata = { annotations: { [annotation]: 'root:other' } }
    const made = await create(scene, alice, workspaces, workspace('typed', {}, metadata))
    const types = 'root:universal,root:organization'
    assert.equal(made.metadata.annotations?.[annotation], types)
    const changed = await update(scene, alice, [workspaces, 'typed'], object => ({
      ...object,
      metadata: { ...object.metadata, ...metadata },
    }))
    assert.equal(changed.metadata.annotations?.[annotation], types)
  })
  it('refuses spec.cluster of users', async () => {
    const annotation = 'internal.tenancy.kcp.io/cluster'
    const metadata = { annotations: { [annotation]: 'mine', other: 'kept' } }
    const made = await create(scene, alice, scene.tenancy.workspaces, workspace('mine', {}, metadata))
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
      assert.rejects(
        create(scene, user, scene.tenancy.workspaces, workspace('w', spec)),
        aboutWorkspace('w', text),
      ))
  }
  it('refuses changes of type and logical cluster', async () => {
    await create(scene, alice, scene.tenancy.workspaces, workspace('fixed', { type: { name: 'universal' } }))
    const change = (spec: object) =>
      update(scene, alice, [scene.tenancy.workspaces, 'fixed'], object => ({
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

describe('the annotation of mounts in older versions of kcp', () => {
  const scene = admitting()
  const annotations = {
    'experimental.tenancy.kcp.io/mount': '{"spec":{"ref":{"kind":"KubeCluster","name":"a"}}}',
  }
  const warning =
    'metadata.annotations[experimental.tenancy.kcp.io/mount]: ignored, the workspace is not a mount; use spec.mount instead'
  const warningsOf = async (write: Promise<KubeObject>): Promise<readonly string[]> => {
    const before = scene.shard.warnings.length
    await write
    return scene.shard.warnings.slice(before)
  }
  it('is ignored with a warning', async () => {
    const { workspaces } = scene.tenancy
    const created = create(scene, alice, workspaces, workspace('mounted', {}, { annotations }))
    assert.deepEqual(await warningsOf(created), [warning])
    assert.deepEqual(await warningsOf(create(scene, alice, workspaces, workspace('plain'))), [])
    const annotate = (name: string) =>
      update(scene, alice, [workspaces, name], object => ({
        ...object,
        metadata: {
          ...object.metadata,
          annotations: { ...object.metadata.annotations, ...annotations, a: name },
        },
      }))
    assert.deepEqual(await warningsOf(annotate('plain')), [warning])
    assert.deepEqual(await warningsOf(annotate('mounted')), [])
  })
})

describe('admission of logical clusters', () => {
  const scene = admitting()
  const about = (text: string) => refusal('logicalclusters.core.kcp.io "cluster"', text)
  const change = (change: (object: LogicalCluster) => LogicalCluster, subresource = '') =>
    update(scene, alice, [{ ...resources.logicalClusters, subresource }, 'cluster'], object =>
      change(object as LogicalCluster),
    )
  it('refuses deletions by users', () =>
    assert.rejects(
      scene.shard.backend
        .storage(resources.logicalClusters)
        .delete(contextFor(scene, alice, resources.logicalClusters), keyOf('cluster'), () => undefined, {
          dryRun: false,
        }),
      about('LogicalCluster cannot be deleted'),
    ))
  it('refuses changes of immutable fields', async () => {
    await assert.rejects(
      change(object => ({ ...object, spec: { ...object.spec, initializers: ['root:other'] } })),
      about('spec.initializers is immutable'),
    )
    await assert.rejects(
      change(object => ({ ...object, spec: { ...object.spec, createdBy: { username: 'eve' } } })),
      about('spec.createdBy: Invalid value: {"username":"eve"}: field is immutable'),
    )
  })
  it('refuses to name a workspace or a terminator of others', async () => {
    const owner = { apiVersion: 'tenancy.kcp.io/v1alpha1', resource: 'workspaces', uid: '1' }
    await assert.rejects(
      change(object => ({
        ...object,
        spec: { ...object.spec, owner: { ...owner, name: 'a', cluster: 'b' } },
      })),
      about(
        `spec.owner: Invalid value: ${JSON.stringify({ ...owner, name: 'a', cluster: 'b' })}: field is immutable`,
      ),
    )
    await assert.rejects(
      change(object => ({ ...object, spec: { ...object.spec, terminators: ['root:other'] } })),
      about('spec.terminators is immutable'),
    )
    await assert.rejects(
      change(object => ({ ...object, status: { ...object.status, terminators: ['root:other'] } }), 'status'),
      about('status.terminators must not grow'),
    )
  })
  const withLimit = (object: LogicalCluster): LogicalCluster => ({
    ...object,
    metadata: {
      ...object.metadata,
      annotations: { ...object.metadata.annotations, 'core.kcp.io/max-total-objects': '7' },
    },
  })
  it('refuses changes of the limit of objects by its users', () =>
    assert.rejects(
      change(withLimit),
      about('modification of reserved annotation: "core.kcp.io/max-total-objects"'),
    ))
  it('refuses an earlier phase', () =>
    assert.rejects(
      change(object => ({ ...object, status: { ...object.status, phase: 'Scheduling' } }), 'status'),
      about('cannot transition from "Ready" to "Scheduling"'),
    ))
  it('refuses phases that only the server sets', async () => {
    for (const phase of ['Inactive', 'Terminating', 'Deleting'] as const)
      await assert.rejects(
        change(object => ({ ...object, status: { ...object.status, phase } }), 'status'),
        about(`cannot transition from "Ready" to "${phase}"`),
      )
  })
  it('refuses changes of annotations of the system', async () => {
    const kept = await change(object => ({
      ...object,
      metadata: {
        ...object.metadata,
        annotations: { 'kcp.io/path': 'root:other', 'internal.oriel.dev/dump': 'begun' },
      },
    }))
    assert.equal(kept.metadata.annotations?.['kcp.io/path'], 'root')
    assert.equal(kept.metadata.annotations?.['internal.oriel.dev/dump'], undefined)
    assert.equal(kept.metadata.annotations?.['internal.tenancy.kcp.io/type'], 'root:root')
  })
  it('refuses the removal of its finalizer', async () => {
    const kept = await change(object => ({ ...object, metadata: { ...object.metadata, finalizers: [] } }))
    assert.deepEqual(kept.metadata.finalizers, ['core.kcp.io/logicalcluster-deletion'])
  })
  it('lets administrators change the limit of objects', async () => {
    const admin: UserInfo = { name: 'admin', groups: ['system:kcp:admin'] }
    const kept = await update(scene, admin, [resources.logicalClusters, 'cluster'], object =>
      withLimit(object as LogicalCluster),
    )
    assert.equal(kept.metadata.annotations?.['core.kcp.io/max-total-objects'], '7')
  })
})

describe('admission of a logical cluster that is being deleted', () => {
  const scene = admitting()
  const own = 'core.kcp.io/logicalcluster-deletion'
  const other = 'example.com/test'
  const ref = resources.logicalClusters
  const finalize = (user: UserInfo, finalizers: readonly string[]) =>
    update(scene, user, [ref, 'cluster'], object => ({
      ...object,
      metadata: { ...object.metadata, finalizers },
    }))
  it('allows users to remove their finalizers, also after the system has removed its own', async () => {
    await finalize(alice, [own, other])
    await scene.shard.backend
      .storage(ref)
      .delete(contextFor(scene, loopback, ref), keyOf('cluster'), () => undefined, { dryRun: false })
    await assert.rejects(
      finalize(alice, [other]),
      refusal('logicalclusters.core.kcp.io "cluster"', `removing the finalizer ${own} is forbidden`),
    )
    assert.deepEqual((await finalize(loopback, [other])).metadata.finalizers, [other])
    await finalize(alice, [])
    await assert.rejects(finalize(alice, []), { code: 404 })
  })
})
