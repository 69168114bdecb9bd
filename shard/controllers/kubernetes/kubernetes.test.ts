import assert from 'node:assert/strict'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import { StatusError } from '../../../framework/meta/errors.ts'
import type { KubeObject, OwnerReference } from '../../../framework/meta/object.ts'
import { resources } from '../../../kcp/resources.ts'
import { conditionOf } from '../../registry/crd.ts'
import { type TestShard, testShard, until } from '../../testing/shard.ts'

const cluster = 'c1'
const widgets: ResourceRef = { group: 'example.com', version: 'v1', resource: 'widgets' }
const key = (name: string, namespace = '') => ({ cluster, namespace, name })

const definition = (plural: string, kind: string, names: object = {}): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, kind, ...names },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
        subresources: { status: {} },
      },
    ],
  },
})
const configMap = (name: string, owners: readonly OwnerReference[] = [], more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    namespace: 'default',
    ...(owners.length === 0 ? {} : { ownerReferences: owners }),
    ...more,
  },
})
const ownedBy = ({ apiVersion, kind, metadata }: KubeObject, more: object = {}): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name ?? '',
  uid: metadata.uid ?? '',
  ...more,
})

describe('controllers of plain Kubernetes', () => {
  let shard: TestShard
  let running: Promise<void>
  const create = (ref: ResourceRef, object: KubeObject) => {
    const { name = '', namespace = '' } = object.metadata
    return shard.client.create(ref, key(name, namespace), object)
  }
  const namespace = (name: string) =>
    create(resources.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const stored = (ref: ResourceRef, name: string, ns = '') =>
    shard.informers.for(ref).get(cluster, ns, name)?.object
  const gone = (ref: ResourceRef, name: string, ns = '') =>
    until(() => (stored(ref, name, ns) === undefined ? true : undefined))
  const crdStatus = (name: string, type: string) => {
    const crd = stored(resources.crds, name)
    return crd && conditionOf(crd.status as never, type)
  }
  const established = (name: string) =>
    until(() => (crdStatus(name, 'Established')?.status === 'True' ? true : undefined))
  const settled = () => Promise.all(shard.controllers.map(controller => controller.idle()))

  beforeEach(async () => {
    shard = await testShard()
    running = shard.run()
    await shard.addCluster(cluster)
    await namespace('default')
  })
  afterEach(async () => {
    await shard.stop()
    await running
  })

  describe('definitions', () => {
    it('are served as soon as they are established', async () => {
      assert.equal(shard.backend.apis(cluster)?.find('example.com', 'v1', 'widgets'), undefined)
      await create(resources.crds, definition('widgets', 'Widget'))
      await established('widgets.example.com')
      const resource = shard.backend.apis(cluster)?.find('example.com', 'v1', 'widgets')
      assert.ok(resource)
      const made = await create(widgets, {
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        metadata: { name: 'a', namespace: 'default' },
        spec: { a: 1 },
        status: { b: 2 },
      })
      assert.equal(made.metadata.generation, 1)
      assert.equal('status' in made, false)
      assert.equal(shard.backend.apis('other'), undefined)
      const { status } = stored(resources.crds, 'widgets.example.com') ?? made
      assert.deepEqual((status as { storedVersions: string[] }).storedVersions, ['v1'])
      assert.deepEqual((status as { acceptedNames: object }).acceptedNames, {
        plural: 'widgets',
        singular: 'widget',
        kind: 'Widget',
        listKind: 'WidgetList',
      })
    })

    it('wait while their names are taken', async () => {
      await create(resources.crds, definition('widgets', 'Widget'))
      await established('widgets.example.com')
      await create(
        resources.crds,
        definition('gadgets', 'Widget', { singular: 'gadget', listKind: 'GadgetList' }),
      )
      await until(() => crdStatus('gadgets.example.com', 'Established'))
      const accepted = crdStatus('gadgets.example.com', 'NamesAccepted')
      assert.deepEqual([accepted?.status, accepted?.reason], ['False', 'KindConflict'])
      assert.match(accepted?.message ?? '', /^"Widget" is already in use/)
      assert.equal(crdStatus('gadgets.example.com', 'Established')?.reason, 'NotAccepted')
      await shard.client.delete(resources.crds, key('widgets.example.com'))
      await established('gadgets.example.com')
    })

    it('delete their instances before they are deleted, and end their watches', async () => {
      await create(resources.crds, definition('widgets', 'Widget'))
      await established('widgets.example.com')
      const widget = {
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        metadata: { name: 'a', namespace: 'default', finalizers: ['example.com/mine'] },
      }
      await create(widgets, widget)
      const resource = shard.backend.apis(cluster)?.find('example.com', 'v1', 'widgets')
      const watch = resource?.storage.watch(shard.context(widgets, cluster), {
        cluster,
        initialEvents: false,
        bookmarks: false,
      })
      const ended = (async () => {
        for await (const _ of watch ?? []);
      })()
      await shard.client.delete(resources.crds, key('widgets.example.com'))
      const storage = shard.backend.storage(widgets)
      const create403 = storage.create(
        shard.context(widgets, cluster),
        key('b', 'default'),
        { ...widget, metadata: { name: 'b' } },
        { dryRun: false, fieldManager: '' },
      )
      await assert.rejects(
        create403,
        (error: unknown) =>
          error instanceof StatusError &&
          /create not allowed while custom resource definition is terminating$/.test(error.message),
      )
      await until(() => stored(widgets, 'a', 'default')?.metadata.deletionTimestamp)
      await shard.client.update(widgets, key('a', 'default'), current => ({
        ...current,
        metadata: { ...current.metadata, finalizers: [] },
      }))
      await gone(resources.crds, 'widgets.example.com')
      await ended
      assert.equal(shard.backend.apis(cluster)?.find('example.com', 'v1', 'widgets'), undefined)
    })

    it('that are not structural are refused with the path', async () => {
      const bad = definition('widgets', 'Widget')
      const [version] = (bad.spec as { versions: [{ schema: object }] }).versions
      version.schema = { openAPIV3Schema: { type: 'object', properties: { spec: {} } } }
      await assert.rejects(
        create(resources.crds, bad),
        (error: unknown) =>
          error instanceof StatusError &&
          error.code === 422 &&
          /openAPIV3Schema\.properties\[spec\]\.type: Required value/.test(error.message),
      )
    })
  })

  describe('namespaces', () => {
    it('are deleted after their content', async () => {
      await namespace('team')
      await create(resources.configMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'a', namespace: 'team' },
      })
      await create(resources.configMaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'held', namespace: 'team', finalizers: ['example.com/mine'] },
      })
      await shard.client.delete(resources.namespaces, key('team'))
      assert.deepEqual(stored(resources.namespaces, 'team')?.status, { phase: 'Terminating' })
      await gone(resources.configMaps, 'a', 'team')
      const remaining = await until(() => {
        const { status } = stored(resources.namespaces, 'team') ?? configMap('')
        return conditionOf(status as never, 'NamespaceFinalizersRemaining')
      })
      assert.match(remaining.message, /example\.com\/mine in 1 resource instances/)
      await shard.client.update(resources.configMaps, key('held', 'team'), current => ({
        ...current,
        metadata: { ...current.metadata, finalizers: [] },
      }))
      await gone(resources.namespaces, 'team')
    })
  })

  describe('garbage collector', () => {
    const maps = resources.configMaps

    it('deletes objects whose only owner was deleted, or never existed', async () => {
      const owner = await create(maps, configMap('owner'))
      await create(maps, configMap('child', [ownedBy(owner)]))
      await create(
        maps,
        configMap('shared', [ownedBy(owner), ownedBy(await create(maps, configMap('other')))]),
      )
      await shard.client.delete(maps, key('owner', 'default'))
      await gone(maps, 'child', 'default')
      await until(() =>
        stored(maps, 'shared', 'default')?.metadata.ownerReferences?.length === 1 ? true : undefined,
      )
      await create(maps, configMap('late', [ownedBy(owner)]))
      await gone(maps, 'late', 'default')
    })

    it('finds owners in the same cluster only', async () => {
      const owner = await create(maps, configMap('owner'))
      await create(maps, configMap('child', [ownedBy(owner)]))
      await shard.addCluster('c2')
      const otherNamespace = { cluster: 'c2', namespace: '', name: 'default' }
      await shard.client.create(resources.namespaces, otherNamespace, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'default' },
      })
      const otherKey = { cluster: 'c2', namespace: 'default', name: 'child' }
      await shard.client.create(maps, otherKey, configMap('child', [ownedBy(owner)]))
      await until(() =>
        shard.informers.for(maps).get('c2', 'default', 'child') === undefined ? true : undefined,
      )
      await settled()
      assert.ok(stored(maps, 'child', 'default'))
    })

    it('orphans dependents with that policy', async () => {
      const owner = await create(maps, configMap('owner'))
      await create(maps, configMap('child', [ownedBy(owner)]))
      await shard.client.delete(maps, key('owner', 'default'), { propagation: 'Orphan' })
      await gone(maps, 'owner', 'default')
      await settled()
      assert.equal(stored(maps, 'child', 'default')?.metadata.ownerReferences, undefined)
    })

    it('deletes the owner last in the foreground', async () => {
      const owner = await create(maps, configMap('owner'))
      await create(
        maps,
        configMap('child', [ownedBy(owner, { blockOwnerDeletion: true })], {
          finalizers: ['example.com/mine'],
        }),
      )
      await shard.client.delete(maps, key('owner', 'default'), { propagation: 'Foreground' })
      await until(() => stored(maps, 'child', 'default')?.metadata.deletionTimestamp)
      await settled()
      assert.ok(stored(maps, 'owner', 'default'))
      await shard.client.update(maps, key('child', 'default'), current => ({
        ...current,
        metadata: { ...current.metadata, finalizers: [] },
      }))
      await gone(maps, 'owner', 'default')
    })
  })
})
