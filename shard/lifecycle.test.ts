import assert from 'node:assert/strict'
import { findCondition } from '../kcp/conditions.ts'
import type { LogicalCluster } from '../kcp/core.ts'
import { resources } from '../kcp/resources.ts'
import type { Workspace } from '../kcp/tenancy.ts'
import { StoreConflict } from './store/store.ts'
import { url } from './testing/kcpshard.ts'
import {
  ask,
  at,
  configMap,
  create,
  find,
  isIn,
  leave,
  life,
  ready,
  workspace,
  workspaceType,
} from './testing/life.ts'
import { until } from './testing/shard.ts'

describe('the lifecycle of a workspace', () => {
  const scene = life()

  describe('at creation', () => {
    it('has its logical cluster from the first write on', async () => {
      const asked = await ask(scene, workspace(scene, 'universal'))
      const { metadata, spec } = asked.now() as Workspace
      assert.match(spec?.cluster ?? '', /^[0-9a-z]{16}$/)
      assert.equal(spec?.URL, `${url}/clusters/root:${asked.name}`)
      assert.deepEqual(metadata.finalizers, ['core.kcp.io/logicalcluster'])
      await asked.when(isIn('Ready'))
      assert.equal(scene.shard.backend.resolve(`root:${asked.name}`), spec?.cluster)
    })

    it('becomes Ready in one commit with its logical cluster and the content', async () => {
      const { asked, cluster } = await ready(scene, 'universal')
      const [namespace, home] = [find(scene, resources.namespaces, cluster, 'default', ''), asked.home()]
      assert.equal(home?.metadata.resourceVersion, namespace?.metadata.resourceVersion)
      assert.equal(home?.metadata.resourceVersion, asked.now()?.metadata.resourceVersion)
      assert.equal(home?.metadata.generation, 1)
      assert.equal(home?.spec?.directlyDeletable, false)
      const [binding] = scene.shard.informers.for(resources.apiBindings).list(cluster)
      assert.equal(binding?.object.metadata.annotations?.['kcp.io/path'], `root:${asked.name}`)
      const bound = JSON.parse(home?.metadata.annotations?.['internal.apis.kcp.io/resource-bindings'] ?? '')
      assert.ok('workspaces.tenancy.kcp.io' in bound)
      assert.deepEqual(home?.metadata.labels, { 'tenancy.kcp.io/phase': 'Ready' })
    })

    it('becomes Ready with what is changed before its commit', async () => {
      const object = workspace(scene, 'universal')
      const { client, content } = scene.shard
      const { commit } = content
      let refused: unknown
      const changeFirst: typeof commit = async changes => {
        Object.assign(content, { commit })
        await client.update(scene.tenancy.workspaces, at('root', object.metadata.name ?? ''), now => ({
          ...now,
          metadata: { ...now.metadata, labels: { ...now.metadata.labels, changed: 'yes' } },
        }))
        refused = await commit(changes).catch(error => error)
        throw refused
      }
      Object.assign(content, { commit: changeFirst })
      const asked = await ask(scene, object)
      const labels = { changed: 'yes', 'tenancy.kcp.io/phase': 'Ready' }
      assert.deepEqual((await asked.when(isIn('Ready'))).metadata.labels, labels)
      assert.ok(refused instanceof StoreConflict)
    })

    it('reports a missing shard, and is scheduled when there is one', async () => {
      const location = { selector: { matchLabels: { tier: 'gold' } } }
      const asked = await ask(scene, workspace(scene, 'universal', { location }))
      const scheduled = ({ status }: Workspace) => findCondition(status?.conditions, 'WorkspaceScheduled')
      const told = await asked.when(w => scheduled(w) !== undefined)
      assert.equal(scheduled(told)?.reason, 'Unschedulable')
      assert.equal(scheduled(told)?.message, 'No available shards to schedule the workspace')
      assert.equal(told.status?.phase, 'Unavailable')
      await scene.shard.client.update(scene.tenancy.shards, at('root', 'root'), object => ({
        ...object,
        metadata: { ...object.metadata, labels: { tier: 'gold' } },
      }))
      assert.equal(scheduled(await asked.when(isIn('Ready')))?.status, 'True')
    })

    it('reports an invalid selector', async () => {
      const location = { selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } }
      const asked = await ask(scene, workspace(scene, 'universal', { location }))
      const { status } = await asked.when(w => (w.status?.conditions ?? []).length > 0)
      assert.equal(
        findCondition(status?.conditions, 'WorkspaceScheduled')?.message,
        'spec.location.selector is invalid: "Near" is not a valid label selector operator',
      )
    })

    it('waits for a type that was deleted', async () => {
      await workspaceType(scene, 'brief', { extend: { with: [{ name: 'base' }] } })
      const location = { cluster: 'early0', URL: `${url}/clusters/root:early` }
      const metadata = { name: 'early', finalizers: ['core.kcp.io/logicalcluster'] }
      const object = { ...workspace(scene, 'brief', location), metadata }
      await scene.shard.content.add([{ cluster: 'root', resource: scene.tenancy.workspaces, object }])
      const now = () => find<Workspace>(scene, scene.tenancy.workspaces, 'root', 'early')
      const told = await until(() => findCondition(now()?.status?.conditions, 'WorkspaceScheduled'))
      assert.equal(told.message, 'unable to find inherited workspace type base')
      await workspaceType(scene, 'base', {})
      await until(() => (now()?.status?.phase === 'Ready' ? true : undefined))
    })
  })

  describe('with initializers and terminators', () => {
    it('has those of its type and of all types that it extends', async () => {
      const asked = await ask(scene, workspace(scene, 'both'))
      const { spec } = (await until(asked.home)) as LogicalCluster
      assert.deepEqual(spec?.initializers, ['root:universal', 'root:waiting', 'system:apibindings'])
      assert.deepEqual(spec?.terminators, ['root:ending'])
    })

    it('is Ready when the last is removed, and labelled while it waits', async () => {
      const asked = await ask(scene, workspace(scene, 'waiting'))
      const { spec, status } = await asked.when(w => w.status?.initializers?.join() === 'root:waiting')
      assert.equal(status?.phase, 'Initializing')
      const { labels = {} } = asked.home()?.metadata ?? {}
      assert.equal(labels['tenancy.kcp.io/phase'], 'Initializing')
      const waits = Object.keys(labels).filter(key => key.startsWith('initializer.internal.kcp.io/'))
      assert.equal(waits.length, 1)
      const told = findCondition(status?.conditions, 'ControllersFinished')
      assert.match(told?.message ?? '', /^waiting since 20\d\d-.*Z for root:waiting at no URL yet$/)
      await leave(scene, spec?.cluster ?? '', 'initializers', 'root:waiting')
      const end = await asked.when(isIn('Ready'))
      assert.equal(findCondition(end.status?.conditions, 'ControllersFinished'), undefined)
      assert.deepEqual(asked.home()?.metadata.labels, { 'tenancy.kcp.io/phase': 'Ready' })
    })

    it('keeps its content until the last terminator has finished', async () => {
      const { asked, cluster } = await ready(scene, 'ending')
      await create(scene, resources.configMaps, cluster, configMap('kept'))
      await asked.remove()
      const { status } = await asked.when(isIn('Terminating'))
      assert.deepEqual(status?.terminators, ['root:ending'])
      assert.equal(findCondition(status?.conditions, 'ControllersFinished')?.reason, 'WaitingForTerminators')
      const finalizers = asked.home()?.metadata.finalizers
      assert.deepEqual(finalizers, ['core.kcp.io/logicalcluster-deletion', 'kcp.io/has-terminators'])
      assert.equal(
        find(scene, resources.configMaps, cluster, 'kept', 'default')?.metadata.deletionTimestamp,
        undefined,
      )
      await leave(scene, cluster, 'terminators', 'root:ending')
      await asked.whenGone()
      assert.equal(find(scene, resources.configMaps, cluster, 'kept', 'default'), undefined)
    })

    it('can be deleted while it waits for initializers', async () => {
      const asked = await ask(scene, workspace(scene, 'waiting'))
      await asked.when(w => w.status?.initializers?.join() === 'root:waiting')
      await asked.remove()
      await asked.whenGone()
      assert.equal(asked.home(), undefined)
    })
  })

  it('is closed while it is inactive', async () => {
    const { asked, cluster } = await ready(scene, 'universal')
    const refusal = (path: string) =>
      scene.shard.backend.refusal?.(
        cluster,
        { info: { isResource: false, verb: 'get', path }, user: { name: 'alice', groups: [] } },
        new URLSearchParams(),
      )?.message
    const mark = (value: string) =>
      scene.shard.client.update(resources.logicalClusters, at(cluster, 'cluster'), object => ({
        ...object,
        metadata: {
          ...object.metadata,
          annotations: { ...object.metadata.annotations, 'core.kcp.io/inactive': value },
        },
      }))
    await mark('true')
    assert.equal(
      refusal('/api/v1/namespaces'),
      `logicalclusters.core.kcp.io "${cluster}" is forbidden: logical cluster is marked inactive`,
    )
    assert.equal(refusal('/apis/core.kcp.io/v1alpha1/logicalclusters/cluster'), undefined)
    await until(() => (asked.home()?.status?.phase === 'Inactive' ? true : undefined))
    await mark('false')
    assert.equal(refusal('/api/v1/namespaces'), undefined)
    await until(() => (asked.home()?.status?.phase === 'Ready' ? true : undefined))
  })
})
