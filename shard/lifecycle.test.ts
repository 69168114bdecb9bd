import assert from 'node:assert/strict'
import { allow } from '../framework/authorizer.ts'
import type { ResourceRef } from '../framework/backend.ts'
import type { KubeObject } from '../framework/object.ts'
import { bootstrap } from './bootstrap/bootstrap.ts'
import { conditionIs, findCondition } from './controllers/conditions.ts'
import type { TenancyResources } from './controllers/deps.ts'
import {
  type APIBinding,
  type APIExport,
  type LogicalCluster,
  type Phase,
  resources,
  type Workspace,
} from './controllers/objects.ts'
import { kcpParts } from './kcp.ts'
import { openMemoryStore } from './store/memory.ts'
import { type TestShard, testShard, until } from './testing/shard.ts'

const url = 'https://localhost:6443'
const addresses = { name: 'root', baseURL: url, externalURL: url, virtualWorkspaceURL: url }

let shard: TestShard
let tenancy: TenancyResources
let running: Promise<void>
let made = 0

const at = (cluster: string, name: string, namespace = '') => ({ cluster, namespace, name })
const find = <T extends KubeObject>(ref: ResourceRef, cluster: string, name: string, namespace = '') =>
  shard.informers.for(ref).get(cluster, namespace, name)?.object as T | undefined
const create = (ref: ResourceRef, cluster: string, object: KubeObject): Promise<KubeObject> =>
  shard.client.create(ref, at(cluster, object.metadata.name ?? '', object.metadata.namespace), object)

const workspaceType = (name: string, spec: object): Promise<KubeObject> =>
  create(tenancy.workspaceTypes, 'root', {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'WorkspaceType',
    metadata: { name },
    spec,
  })
const workspace = (type: string, spec: object = {}): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name: `w${made++}` },
  spec: { type: { name: type, path: 'root' }, ...spec },
})

/** A workspace that somebody has asked for. */
interface Asked {
  readonly parent: string
  readonly name: string
  now(): Workspace | undefined
  /** When it satisfies. */
  when(satisfies: (workspace: Workspace) => boolean): Promise<Workspace>
  home(): LogicalCluster | undefined
  whenGone(): Promise<unknown>
  remove(): Promise<void>
}

async function ask(object: KubeObject, parent = 'root'): Promise<Asked> {
  const { metadata, spec } = await create(tenancy.workspaces, parent, object)
  const { name = '' } = metadata
  const { cluster = '' } = (spec ?? {}) as { cluster?: string }
  const now = () => find<Workspace>(tenancy.workspaces, parent, name)
  return {
    parent,
    name,
    now,
    when: satisfies =>
      until(shard, () => {
        const found = now()
        return found !== undefined && satisfies(found) ? found : undefined
      }),
    home: () => find<LogicalCluster>(resources.logicalClusters, now()?.spec?.cluster ?? cluster, 'cluster'),
    whenGone: () => until(shard, () => (now() === undefined ? true : undefined)),
    remove: () => shard.client.delete(tenancy.workspaces, at(parent, name)),
  }
}

const isIn =
  (phase: Phase) =>
  ({ status }: Workspace): boolean =>
    status?.phase === phase
async function ready(type: string, parent = 'root'): Promise<{ asked: Asked; cluster: string }> {
  const asked = await ask(workspace(type), parent)
  const { spec } = await asked.when(isIn('Ready'))
  return { asked, cluster: spec?.cluster ?? '' }
}

const configMap = (name: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...metadata },
})
/** What somebody does whose finalizer is on a ConfigMap. */
const release = (cluster: string, name: string): Promise<KubeObject> =>
  shard.client.update(resources.configMaps, at(cluster, name, 'default'), object => ({
    ...object,
    metadata: { ...object.metadata, finalizers: [] },
  }))
/** Puts finalizers of others on a workspace, or takes them away. */
const hold = ({ parent, name }: Asked, others: readonly string[]): Promise<KubeObject> =>
  shard.client.update(tenancy.workspaces, at(parent, name), ({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...metadata, finalizers: ['core.kcp.io/logicalcluster', ...others] },
  }))
const finished = 'ControllersFinished'
const waitsFor =
  (reason: string) =>
  ({ status }: Workspace): boolean =>
    findCondition(status?.conditions, finished)?.reason === reason
/** What an initializer or terminator does when it has finished. */
const leave = (cluster: string, list: 'initializers' | 'terminators', own: string): Promise<KubeObject> =>
  shard.client.update(
    { ...resources.logicalClusters, subresource: 'status' },
    at(cluster, 'cluster'),
    current => {
      const { status = {} } = current as LogicalCluster
      return { ...current, status: { ...status, [list]: (status[list] ?? []).filter(each => each !== own) } }
    },
  )

describe('the life of a workspace', () => {
  before(async () => {
    const store = openMemoryStore()
    tenancy = await bootstrap({ store, shard: addresses })
    shard = await testShard({
      store,
      authorizer: () => ({ authorize: async () => allow('') }),
      ...kcpParts({ tenancy, shard: addresses, rootCA: '' }),
    })
    running = shard.run()
    const universal = { extend: { with: [{ name: 'universal', path: 'root' }] } }
    await workspaceType('waiting', { ...universal, initializer: true })
    await workspaceType('ending', { ...universal, terminator: true })
    await workspaceType('both', { extend: { with: [{ name: 'waiting' }, { name: 'ending' }] } })
  })
  after(async () => {
    await shard.stop()
    await running
    await shard.store.close()
  })

  describe('at its beginning', () => {
    it('has its place from the first write on', async () => {
      const asked = await ask(workspace('universal'))
      const { metadata, spec } = asked.now() as Workspace
      assert.match(spec?.cluster ?? '', /^[0-9a-z]{16}$/)
      assert.equal(spec?.URL, `${url}/clusters/root:${asked.name}`)
      assert.deepEqual(metadata.finalizers, ['core.kcp.io/logicalcluster'])
      await asked.when(isIn('Ready'))
      assert.equal(shard.backend.resolve(`root:${asked.name}`), spec?.cluster)
    })

    it('says why it has none, and gets one when there is one', async () => {
      const location = { selector: { matchLabels: { tier: 'gold' } } }
      const asked = await ask(workspace('universal', { location }))
      const scheduled = ({ status }: Workspace) => findCondition(status?.conditions, 'WorkspaceScheduled')
      const told = await asked.when(w => scheduled(w) !== undefined)
      assert.equal(scheduled(told)?.reason, 'Unschedulable')
      assert.equal(scheduled(told)?.message, 'No available shards to schedule the workspace')
      assert.equal(told.status?.phase, 'Unavailable')
      await shard.client.update(tenancy.shards, at('root', 'root'), object => ({
        ...object,
        metadata: { ...object.metadata, labels: { tier: 'gold' } },
      }))
      assert.equal(scheduled(await asked.when(isIn('Ready')))?.status, 'True')
    })

    it('says what is wrong with its selector', async () => {
      const location = { selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } }
      const asked = await ask(workspace('universal', { location }))
      const { status } = await asked.when(w => (w.status?.conditions ?? []).length > 0)
      assert.equal(
        findCondition(status?.conditions, 'WorkspaceScheduled')?.message,
        'spec.location.selector is invalid: "Near" is not a valid label selector operator',
      )
    })

    it('waits for a type that has gone since it was asked for', async () => {
      await workspaceType('brief', { extend: { with: [{ name: 'base' }] } })
      const location = { cluster: 'early0', URL: `${url}/clusters/root:early` }
      const metadata = { name: 'early', finalizers: ['core.kcp.io/logicalcluster'] }
      const object = { ...workspace('brief', location), metadata }
      await shard.content.add([{ cluster: 'root', resource: tenancy.workspaces, object }])
      const now = () => find<Workspace>(tenancy.workspaces, 'root', 'early')
      const told = await until(shard, () => findCondition(now()?.status?.conditions, 'WorkspaceScheduled'))
      assert.equal(told.message, 'unable to find inherited workspace type base')
      await workspaceType('base', {})
      await until(shard, () => (now()?.status?.phase === 'Ready' ? true : undefined))
    })
  })

  describe('with initializers and terminators', () => {
    it('collects those of its type and of all that it extends', async () => {
      const asked = await ask(workspace('both'))
      const { spec } = (await until(shard, asked.home)) as LogicalCluster
      assert.deepEqual(spec?.initializers, ['root:universal', 'root:waiting', 'system:apibindings'])
      assert.deepEqual(spec?.terminators, ['root:ending'])
    })

    it('is Ready when the last has gone, and labelled as long as it waits', async () => {
      const asked = await ask(workspace('waiting'))
      const { spec, status } = await asked.when(w => w.status?.initializers?.join() === 'root:waiting')
      assert.equal(status?.phase, 'Initializing')
      const { labels = {} } = asked.home()?.metadata ?? {}
      assert.equal(labels['tenancy.kcp.io/phase'], 'Initializing')
      const waits = Object.keys(labels).filter(key => key.startsWith('initializer.internal.kcp.io/'))
      assert.equal(waits.length, 1)
      const told = findCondition(status?.conditions, 'ControllersFinished')
      assert.match(told?.message ?? '', /^waiting since 20\d\d-.*Z for root:waiting at no URL yet$/)
      await leave(spec?.cluster ?? '', 'initializers', 'root:waiting')
      const end = await asked.when(isIn('Ready'))
      assert.equal(findCondition(end.status?.conditions, 'ControllersFinished'), undefined)
      assert.deepEqual(asked.home()?.metadata.labels, { 'tenancy.kcp.io/phase': 'Ready' })
    })

    it('keeps its content until the last terminator has finished', async () => {
      const { asked, cluster } = await ready('ending')
      await create(resources.configMaps, cluster, configMap('kept'))
      await asked.remove()
      const { status } = await asked.when(isIn('Terminating'))
      assert.deepEqual(status?.terminators, ['root:ending'])
      assert.equal(findCondition(status?.conditions, 'ControllersFinished')?.reason, 'WaitingForTerminators')
      const finalizers = asked.home()?.metadata.finalizers
      assert.deepEqual(finalizers, ['core.kcp.io/logicalcluster-deletion', 'kcp.io/has-terminators'])
      assert.equal(
        find(resources.configMaps, cluster, 'kept', 'default')?.metadata.deletionTimestamp,
        undefined,
      )
      await leave(cluster, 'terminators', 'root:ending')
      await asked.whenGone()
      assert.equal(find(resources.configMaps, cluster, 'kept', 'default'), undefined)
    })

    it('goes when it is deleted while it waits for initializers', async () => {
      const asked = await ask(workspace('waiting'))
      await asked.when(w => w.status?.initializers?.join() === 'root:waiting')
      await asked.remove()
      await asked.whenGone()
      assert.equal(asked.home(), undefined)
    })
  })

  describe('at its end', () => {
    it('takes its children first', async () => {
      const top = await ready('universal')
      const middle = await ready('universal', top.cluster)
      const low = await ready('universal', middle.cluster)
      const order: string[] = []
      const stop = shard.informers.for(resources.logicalClusters).onEvent(({ type, item }) => {
        if (type === 'DELETED') order.push(item.key.cluster)
      })
      await top.asked.remove()
      await top.asked.whenGone()
      stop()
      assert.deepEqual(order, [low.cluster, middle.cluster, top.cluster])
    })

    it('waits for whoever holds its content, and says for what', async () => {
      const { asked, cluster } = await ready('universal')
      await create(resources.configMaps, cluster, configMap('held', { finalizers: ['example.com/lock'] }))
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
      assert.notEqual(find(resources.namespaces, cluster, 'default'), undefined)
      await release(cluster, 'held')
      await asked.whenGone()
    })

    it('tells in one condition whom it waits for: children, and whoever has put finalizers', async () => {
      const top = await ready('universal')
      const low = await ready('universal', top.cluster)
      const lock = { finalizers: ['example.com/lock'] }
      await create(resources.configMaps, low.cluster, configMap('held', lock))
      await hold(top.asked, [...lock.finalizers])
      await top.asked.remove()
      const since = () => top.asked.now()?.metadata.deletionTimestamp
      const own = await top.asked.when(waitsFor('WaitingForFinalizers'))
      assert.equal(
        findCondition(own.status?.conditions, finished)?.message,
        `waiting since ${since()} for example.com/lock on workspaces.tenancy.kcp.io ${top.asked.name} at ${url}/clusters/root`,
      )
      assert.notEqual(low.asked.now(), undefined)
      await hold(top.asked, [])
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
      await release(low.cluster, 'held')
      await top.asked.whenGone()
      assert.equal(low.asked.now(), undefined)
    })

    it('follows what is left as it goes', async () => {
      const { asked, cluster } = await ready('universal')
      for (const name of ['one', 'two'])
        await create(resources.configMaps, cluster, configMap(name, { finalizers: ['example.com/lock'] }))
      await asked.remove()
      const left =
        (count: number) =>
        ({ status }: Workspace): boolean =>
          findCondition(status?.conditions, 'WorkspaceContentDeleted')?.message?.startsWith(
            `Some resources are remaining: configmaps has ${count} `,
          ) ?? false
      await asked.when(left(2))
      await release(cluster, 'one')
      await asked.when(left(1))
      await release(cluster, 'two')
      await asked.whenGone()
    })

    it('leaves nothing behind', async () => {
      const { asked, cluster } = await ready('universal')
      const ctx = shard.context(resources.configMaps, cluster)
      const query = { cluster, initialEvents: false, bookmarks: false }
      const watch = shard.backend.storage(resources.configMaps).watch(ctx, query)
      const ended = (async () => {
        for await (const _ of watch);
      })()
      await create(resources.configMaps, cluster, configMap('one'))
      await asked.remove()
      await asked.whenGone()
      await ended
      assert.deepEqual([...shard.content.of(cluster)], [])
      assert.equal(shard.backend.apis(cluster), undefined)
      assert.equal(shard.backend.resolve(`root:${asked.name}`), undefined)
    })

    it('takes what was written while it went', async () => {
      const { asked, cluster } = await ready('universal')
      await asked.remove()
      await asked.whenGone()
      await shard.content.add([{ cluster, resource: resources.configMaps, object: configMap('late') }])
      await until(shard, () => ([...shard.content.of(cluster)].length === 0 ? true : undefined))
    })
  })

  describe('with default bindings', () => {
    const exported = (name: string, spec: object = {}): KubeObject => ({
      apiVersion: 'apis.kcp.io/v1alpha2',
      kind: 'APIExport',
      metadata: { name },
      spec,
    })
    const bindingIn = (cluster: string, prefix: string): APIBinding | undefined =>
      shard.informers
        .for(resources.apiBindings)
        .list(cluster)
        .find(({ key }) => key.name.startsWith(prefix))?.object as APIBinding | undefined

    it('waits for an export that is not there, and says for which', async () => {
      await workspaceType('binding', { defaultAPIBindings: [{ path: 'root', export: 'later' }] })
      const asked = await ask(workspace('binding'))
      const waiting = () => findCondition(asked.home()?.status?.conditions, 'APIBindingsInitialized')
      const told = await until(shard, waiting)
      assert.equal(told.reason, 'WaitingOnAPIBindings')
      assert.equal(told.message, 'APIBinding(s) not yet fully bound: for APIExport root|later')
      const stuck = await asked.when(waitsFor('WaitingForInitializers'))
      assert.equal(
        findCondition(stuck.status?.conditions, finished)?.message,
        `waiting since ${asked.home()?.metadata.creationTimestamp} for system:apibindings (${told.message}) at ` +
          `${url}/clusters/${stuck.spec?.cluster}`,
      )
      await create(resources.apiExports, 'root', exported('later'))
      const done = await asked.when(isIn('Ready'))
      assert.equal(findCondition(done.status?.conditions, finished), undefined)
      assert.equal(waiting()?.status, 'True')
    })

    it('binds what it can of what wants the same names, and says which binding cannot be', async () => {
      await create(resources.apiResourceSchemas, 'root', {
        apiVersion: 'apis.kcp.io/v1alpha1',
        kind: 'APIResourceSchema',
        metadata: { name: 'v1.gadgets.example.io' },
        spec: {
          group: 'example.io',
          names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
          scope: 'Cluster',
          versions: [{ name: 'v1', served: true, storage: true, schema: { type: 'object' } }],
        },
      })
      const gadgets = [{ group: 'example.io', name: 'gadgets', schema: 'v1.gadgets.example.io' }]
      for (const name of ['left', 'right'])
        await create(resources.apiExports, 'root', exported(name, { resources: gadgets }))
      await until(shard, () =>
        ['left', 'right'].every(
          name => find<APIExport>(resources.apiExports, 'root', name)?.status?.identityHash,
        )
          ? true
          : undefined,
      )
      await workspaceType('torn', {
        defaultAPIBindings: ['left', 'right'].map(name => ({ path: 'root', export: name })),
      })
      const asked = await ask(workspace('torn'))
      const stuck = await asked.when(waitsFor('WaitingForInitializers'))
      const cluster = stuck.spec?.cluster ?? ''
      assert.equal(bindingIn(cluster, 'left-')?.status?.phase, 'Bound')
      const { metadata, status } = bindingIn(cluster, 'right-') ?? {}
      assert.equal(findCondition(status?.conditions, 'InitialBindingCompleted')?.reason, 'NamingConflicts')
      assert.match(
        findCondition(stuck.status?.conditions, finished)?.message ?? '',
        new RegExp(`: ${metadata?.name}\\)`),
      )
      await asked.remove()
      await asked.whenGone()
    })

    it('puts back what has drifted where the type says Maintain', async () => {
      const claim = { group: '', resource: 'configmaps', verbs: ['get'] }
      await create(resources.apiExports, 'root', exported('kept', { permissionClaims: [claim] }))
      const defaults = { defaultAPIBindings: [{ path: 'root', export: 'kept' }] }
      await workspaceType('maintained', { ...defaults, defaultAPIBindingLifecycle: 'Maintain' })
      const { asked, cluster } = await ready('maintained')
      const spec = bindingIn(cluster, 'kept-')?.spec
      assert.equal(spec?.permissionClaims?.[0]?.state, 'Accepted')
      const name = bindingIn(cluster, 'kept-')?.metadata.name ?? ''
      await shard.client.update(resources.apiBindings, at(cluster, name), object => ({
        ...object,
        spec: {
          ...(object as APIBinding).spec,
          permissionClaims: [{ ...claim, selector: { matchAll: true }, state: 'Rejected' }],
        },
      }))
      const state = () => bindingIn(cluster, 'kept-')?.spec?.permissionClaims?.[0]?.state
      await until(shard, () => (state() === 'Accepted' ? true : undefined))
      await shard.client.delete(resources.apiBindings, at(cluster, name))
      const uid = bindingIn(cluster, 'kept-')?.metadata.uid
      await until(shard, () => {
        const found = bindingIn(cluster, 'kept-')
        return found !== undefined && found.metadata.uid !== uid ? true : undefined
      })
      await until(shard, () =>
        conditionIs(asked.home()?.status?.conditions, 'APIBindingsReconciled', 'True') ? true : undefined,
      )
    })
  })

  it('is closed while it is inactive', async () => {
    const { asked, cluster } = await ready('universal')
    const refusal = (path: string) =>
      shard.backend.refusal?.(cluster, { isResource: false, verb: 'get', path })?.message
    const mark = (value: string) =>
      shard.client.update(resources.logicalClusters, at(cluster, 'cluster'), object => ({
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
    await until(shard, () => (asked.home()?.status?.phase === 'Inactive' ? true : undefined))
    await mark('false')
    assert.equal(refusal('/api/v1/namespaces'), undefined)
    await until(shard, () => (asked.home()?.status?.phase === 'Ready' ? true : undefined))
  })
})
