import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { bindingFinalizer } from '../../../kcp/annotations.ts'
import { resources } from '../../../kcp/resources.ts'
import {
  bindIn,
  identity,
  resourceSchema,
  servedVersion,
  storageVersion,
  widgets,
} from '../../testing/bindings.ts'
import { type TestShard, testShard, until } from '../../testing/shard.ts'
import { apiBindingDeletionController } from '../exports/apibindingdeletion.ts'
import type { KcpControllerDeps, ShardHost } from '../host.ts'

const cluster = 'c1'
const group = 'example.com'
const things = { group, version: 'v1', resource: 'things' }
const definitionKey = { cluster, namespace: '', name: `things.${group}` }
const version = (name: string, storage: boolean) => ({
  ...{ name, storage, served: true },
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
})
/** Nobody answers at the URL of its webhook. */
const definition = (storage: 'v1' | 'v2'): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: definitionKey.name },
  spec: {
    ...{ group, scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' } },
    versions: [version('v2', storage === 'v2'), version('v1', storage === 'v1')],
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig: { url: 'https://127.0.0.1:1/' }, conversionReviewVersions: ['v1'] },
    },
  },
})
const named = (name: string) => ({ cluster, namespace: 'team', name })
const namespaceKey = { cluster, namespace: '', name: 'team' }

/** No other binding has the objects, so that the directory of workspaces is not asked. */
const depsOf = (host: ShardHost): KcpControllerDeps =>
  ({ ...host, apis: at => host.backend.apis(at) }) as Partial<KcpControllerDeps> as KcpControllerDeps

interface Conditioned extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string
      readonly reason: string
      readonly message: string
    }[]
  }
}

describe('the deletion of objects whose conversion webhook does not answer', () => {
  let shard: TestShard
  let stop: AbortController
  const definitions = () => shard.informers.for(resources.crds)
  const apis = () => shard.backend.apis(cluster)
  const served = (name: string) => apis()?.find(group, name, 'things')
  const object = (name: string): KubeObject => ({
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name, namespace: 'team' },
  })
  const conditionOf = (found: KubeObject | undefined, type: string, reason: string) =>
    (found as Conditioned | undefined)?.status?.conditions?.find(
      condition => condition.type === type && condition.reason === reason,
    )

  beforeEach(async () => {
    shard = await testShard({ controllers: host => [apiBindingDeletionController(depsOf(host))] })
    stop = new AbortController()
    await shard.addCluster(cluster)
    void shard.run(stop.signal)
    await shard.client.create(resources.namespaces, namespaceKey, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'team' },
    })
    await shard.client.create(resources.crds, definitionKey, definition('v1'))
    await until(() => served('v1'))
    await shard.client.create(things, named('a'), object('a'))
  })
  afterEach(async () => {
    stop.abort()
    await shard.stop()
  })

  /** An object of another definition, which has one version. */
  const addOther = async (ref: typeof things): Promise<void> => {
    const name = `things.${ref.group}`
    const { apiVersion, kind, spec } = definition('v1')
    const own = {
      ...(spec as object),
      group: ref.group,
      versions: [version('v1', true)],
      conversion: undefined,
    }
    await shard.client.create(
      resources.crds,
      { ...definitionKey, name },
      { apiVersion, kind, metadata: { name }, spec: own },
    )
    await until(() => apis()?.find(ref.group, 'v1', 'things'))
    await shard.client.create(ref, named('a'), { ...object('a'), apiVersion: `${ref.group}/v1` })
  }

  /** Objects of v1 have to be converted from now on. */
  const storeV2 = async (): Promise<void> => {
    const { spec } = definition('v2')
    await shard.client.update(resources.crds, definitionKey, current => ({ ...current, spec }))
    await until(() => served('v2'))
  }

  it('with their definition asks no webhook for those of the storage version', async () => {
    await shard.client.delete(resources.crds, definitionKey)
    await until(() => definitions().get(cluster, '', definitionKey.name) === undefined || undefined)
    assert.equal(shard.cache.resource(group, 'things', 'customresources').count(cluster), 0)
  })

  it('with their definition tells why it does not end', async () => {
    await storeV2()
    await shard.client.delete(resources.crds, definitionKey)
    const { message } = await until(() =>
      conditionOf(
        definitions().get(cluster, '', definitionKey.name)?.object,
        'Terminating',
        'InstanceDeletionFailed',
      ),
    )
    assert.match(message, /^could not delete instances: conversion for example.com\/v1, Kind=Thing failed: /)
  })

  it('with their namespace deletes the other content, and tells why it does not end', async () => {
    await storeV2()
    const others = ['before.example.com', 'more.example.com'].map(name => ({ ...things, group: name }))
    for (const ref of others) await addOther(ref)
    await shard.client.delete(resources.namespaces, namespaceKey)
    const namespace = () => shard.informers.for(resources.namespaces).get(cluster, '', 'team')?.object
    const { message } = await until(() =>
      conditionOf(namespace(), 'NamespaceDeletionContentFailure', 'ContentDeletionFailed'),
    )
    assert.match(
      message,
      /^Failed to delete all resource types, 1 remaining: conversion for example.com\/v1, Kind=Thing failed: /,
    )
    for (const ref of others) assert.deepEqual(await shard.client.list(ref, cluster), [])
  })

  it('with their binding asks no webhook for those of the storage version', async () => {
    const { conversion } = definition('v1').spec as { readonly conversion: object }
    const key = { cluster: 'provider', namespace: '', name: 'v1.widgets.example.com' }
    const { spec, ...schema } = resourceSchema(key.name, [servedVersion('v2'), storageVersion('v1')])
    const created = await shard.client.create(resources.apiResourceSchemas, key, {
      ...schema,
      spec: { ...(spec as object), conversion },
    })
    await bindIn(shard, cluster, created)
    await until(() => apis()?.find(group, 'v1', 'widgets'))
    const bindingKey = { ...definitionKey, name: 'widgets' }
    await shard.client.update(resources.apiBindings, bindingKey, current => ({
      ...current,
      metadata: { ...current.metadata, finalizers: [bindingFinalizer] },
    }))
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } }
    await shard.client.create(widgets, { ...definitionKey, name: 'a' }, widget)
    await shard.client.delete(resources.apiBindings, bindingKey)
    const bindings = shard.informers.for(resources.apiBindings)
    await until(() => bindings.get(cluster, '', 'widgets') === undefined || undefined)
    assert.equal(shard.cache.resource(group, 'widgets', identity).count(cluster), 0)
  })
})
