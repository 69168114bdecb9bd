import assert from 'node:assert/strict'
import { findCondition } from '../kcp/conditions.ts'
import { resources } from '../kcp/resources.ts'
import type { Workspace } from '../kcp/tenancy.ts'
import { url } from './testing/kcpshard.ts'
import { configMap, create, find, finished, hold, life, ready, release, waitsFor } from './testing/life.ts'
import { until } from './testing/shard.ts'

describe('the lifecycle of a workspace', () => {
  const scene = life()

  describe('at deletion', () => {
    it('deletes its children first', async () => {
      const top = await ready(scene, 'universal')
      const middle = await ready(scene, 'universal', top.cluster)
      const low = await ready(scene, 'universal', middle.cluster)
      const order: string[] = []
      const stop = scene.shard.informers.for(resources.logicalClusters).onEvent(({ type, item }) => {
        if (type === 'DELETED') order.push(item.key.cluster)
      })
      await top.asked.remove()
      await top.asked.whenGone()
      stop()
      assert.deepEqual(order, [low.cluster, middle.cluster, top.cluster])
    })

    it('waits for finalizers in its content, and names them', async () => {
      const { asked, cluster } = await ready(scene, 'universal')
      await create(
        scene,
        resources.configMaps,
        cluster,
        configMap('held', { finalizers: ['example.com/lock'] }),
      )
      await asked.remove()
      const content = ({ status }: Workspace) => findCondition(status?.conditions, 'WorkspaceContentDeleted')
      const told = await asked.when(w => content(w) !== undefined)
      assert.equal(told.status?.phase, 'Deleting')
      assert.equal(content(told)?.reason, 'SomeResourcesRemain')
      assert.equal(
        content(told)?.message,
        'Some resources are remaining: configmaps has 1 resource instances; Some content in the logical cluster has ' +
          'finalizers remaining: example.com/lock in 1 resource instances',
      )
      assert.notEqual(find(scene, resources.namespaces, cluster, 'default'), undefined)
      await release(scene, cluster, 'held')
      await asked.whenGone()
    })

    it('creates no default content of namespaces again', async () => {
      const { asked, cluster } = await ready(scene, 'universal')
      await create(
        scene,
        resources.configMaps,
        cluster,
        configMap('held', { finalizers: ['example.com/lock'] }),
      )
      const created: string[] = []
      const stop = scene.shard.cache.subscribe(({ resource }, { type, item }) => {
        if (type === 'ADDED' && item.cluster === cluster) created.push(`${resource.resource} ${item.name}`)
      })
      await asked.remove()
      const isLeft = () =>
        find(scene, resources.configMaps, cluster, 'kube-root-ca.crt', 'default') !== undefined
      await until(() => (isLeft() ? undefined : true))
      await release(scene, cluster, 'held')
      await asked.whenGone()
      stop()
      assert.deepEqual(created, [])
    })

    it('names in one condition the children and finalizers that it waits for', async () => {
      const top = await ready(scene, 'universal')
      const low = await ready(scene, 'universal', top.cluster)
      const lock = { finalizers: ['example.com/lock'] }
      await create(scene, resources.configMaps, low.cluster, configMap('held', lock))
      await hold(scene, top.asked, [...lock.finalizers])
      await top.asked.remove()
      const since = () => top.asked.now()?.metadata.deletionTimestamp
      const own = await top.asked.when(waitsFor('WaitingForFinalizers'))
      assert.equal(
        findCondition(own.status?.conditions, finished)?.message,
        `waiting since ${since()} for example.com/lock on workspaces.tenancy.kcp.io ${top.asked.name} at ${url}/clusters/root`,
      )
      assert.equal(own.status?.phase, 'Deleting')
      assert.notEqual(low.asked.now(), undefined)
      await hold(scene, top.asked, [])
      const above = await top.asked.when(waitsFor('WaitingForChildren'))
      assert.equal(
        findCondition(above.status?.conditions, finished)?.message,
        `waiting since ${top.asked.home()?.metadata.deletionTimestamp} for the workspaces below it: ${low.asked.name} at ` +
          `${url}/clusters/${top.cluster}`,
      )
      const below = await low.asked.when(waitsFor('WaitingForFinalizers'))
      assert.equal(
        findCondition(below.status?.conditions, finished)?.message,
        `waiting since ${low.asked.home()?.metadata.deletionTimestamp} for example.com/lock on configmaps default/held at ` +
          `${url}/clusters/${low.cluster}`,
      )
      await release(scene, low.cluster, 'held')
      await top.asked.whenGone()
      assert.equal(low.asked.now(), undefined)
    })

    it('updates the condition as objects are removed', async () => {
      const { asked, cluster } = await ready(scene, 'universal')
      for (const name of ['one', 'two'])
        await create(
          scene,
          resources.configMaps,
          cluster,
          configMap(name, { finalizers: ['example.com/lock'] }),
        )
      await asked.remove()
      const left =
        (count: number) =>
        ({ status }: Workspace): boolean =>
          findCondition(status?.conditions, 'WorkspaceContentDeleted')?.message?.startsWith(
            `Some resources are remaining: configmaps has ${count} `,
          ) ?? false
      await asked.when(left(2))
      await release(scene, cluster, 'one')
      await asked.when(left(1))
      await release(scene, cluster, 'two')
      await asked.whenGone()
    })

    it('leaves no objects', async () => {
      const { asked, cluster } = await ready(scene, 'universal')
      const ctx = scene.shard.context(resources.configMaps, cluster)
      const query = { cluster, initialEvents: false, bookmarks: false }
      const watch = scene.shard.backend.storage(resources.configMaps).watch(ctx, query)
      const ended = (async () => {
        for await (const _ of watch);
      })()
      await create(scene, resources.configMaps, cluster, configMap('one'))
      await asked.remove()
      await asked.whenGone()
      await ended
      assert.deepEqual([...scene.shard.content.of(cluster)], [])
      assert.equal(scene.shard.backend.apis(cluster), undefined)
      assert.equal(scene.shard.backend.resolve(`root:${asked.name}`), undefined)
    })

    it('deletes objects that were written during the deletion', async () => {
      const { asked, cluster } = await ready(scene, 'universal')
      await asked.remove()
      await asked.whenGone()
      await scene.shard.content.add([{ cluster, resource: resources.configMaps, object: configMap('late') }])
      await until(() => ([...scene.shard.content.of(cluster)].length === 0 ? true : undefined))
    })
  })
})
