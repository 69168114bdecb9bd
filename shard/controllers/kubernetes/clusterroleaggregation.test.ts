import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { type TestShard, testShard, until } from '../../testing/shard.ts'
import { aggregationController } from './clusterroleaggregation.ts'

const ref = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }
const rule = (verb: string) => ({ verbs: [verb], apiGroups: ['g.io'], resources: ['widgets'] })
const role = (name: string, labels: Record<string, string>, ...verbs: string[]): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name, labels },
  rules: verbs.map(rule),
})
const aggregate = (name: string, ...selectors: object[]): KubeObject => ({
  ...role(name, {}),
  aggregationRule: { clusterRoleSelectors: selectors },
})
const key = (name: string, cluster = 'c1') => ({ cluster, namespace: '', name })

describe('aggregated cluster roles', () => {
  let shard: TestShard
  let running: Promise<void>
  const create = (object: KubeObject, cluster = 'c1') =>
    shard.client.create(ref, key(object.metadata.name ?? '', cluster), object)
  const verbsOf = (name: string, cluster = 'c1') => {
    const rules = shard.informers.for(ref).get(cluster, '', name)?.object.rules ?? []
    return (rules as { verbs: string[] }[]).flatMap(({ verbs }) => verbs)
  }
  const eventually = (name: string, ...verbs: string[]) =>
    until(() => (isDeepStrictEqual(verbsOf(name), verbs) ? true : undefined))

  beforeEach(async () => {
    shard = await testShard()
    running = shard.run()
    for (const cluster of ['c1', 'c2']) await shard.addCluster(cluster)
  })
  afterEach(async () => {
    await shard.stop()
    await running
  })

  it('have the rules of the selected roles, by name and each once', async () => {
    await create(role('b', { to: 'x' }, 'list', 'get'))
    await create(role('a', { to: 'x' }, 'watch', 'get'))
    await create(role('c', { to: 'y' }, 'delete'))
    await create(aggregate('all', { matchLabels: { to: 'x' } }))
    await eventually('all', 'watch', 'get', 'list')
  })

  it('keep their rules when they would be larger than an object may be', async () => {
    const large = (name: string): KubeObject => ({
      ...role(name, { to: 'x' }),
      rules: Array.from({ length: 9_000 }, (_, i) => rule(`${name}${i}${'v'.repeat(60)}`)),
    })
    await create(aggregate('all', { matchLabels: { to: 'x' } }))
    await create(role('a', { to: 'x' }, 'get'))
    await eventually('all', 'get')
    for (const name of ['b', 'c', 'd']) await create(large(name))
    await create(aggregate('other', { matchLabels: { to: 'y' } }))
    await create(role('e', { to: 'y' }, 'get'))
    await eventually('other', 'get')
    for (const name of ['b', 'c', 'd']) await shard.client.delete(ref, key(name))
    await create(role('f', { to: 'x' }, 'list'))
    await eventually('all', 'get', 'list')
  })

  it('follow changes of labels and rules, and deletions', async () => {
    await create(
      aggregate(
        'all',
        { matchLabels: { to: 'x' } },
        { matchExpressions: [{ key: 'also', operator: 'Exists' }] },
      ),
    )
    await create(role('a', { to: 'x' }, 'get'))
    await create(role('b', { also: '' }, 'list'))
    await eventually('all', 'get', 'list')
    await shard.client.update(ref, key('a'), current => ({ ...current, rules: [rule('patch')] }))
    await eventually('all', 'patch', 'list')
    await shard.client.update(ref, key('b'), current => ({
      ...current,
      metadata: { ...current.metadata, labels: {} },
    }))
    await eventually('all', 'patch')
    await shard.client.delete(ref, key('a'))
    await eventually('all')
  })

  it('revert rules that other clients write', async () => {
    await create(role('a', { to: 'x' }, 'get'))
    await create(aggregate('all', { matchLabels: { to: 'x' } }))
    await eventually('all', 'get')
    await shard.client.update(ref, key('all'), current => ({ ...current, rules: [rule('*')] }))
    await eventually('all', 'get')
  })

  it('stay within their logical cluster', async () => {
    await create(role('a', { to: 'x' }, 'get'), 'c2')
    await create(role('b', { to: 'x' }, 'list'))
    await create(aggregate('all', { matchLabels: { to: 'x' } }))
    await eventually('all', 'list')
    await Promise.all(shard.controllers.map(controller => controller.idle()))
    assert.deepEqual(verbsOf('all'), ['list'])
  })

  it('do not wait for one whose update fails', async () => {
    const other = await testShard()
    await other.addCluster('c1')
    for (const name of ['bad', 'good']) {
      const object = aggregate(name, { matchLabels: { to: 'x' } })
      await other.client.create(ref, key(name), object)
    }
    let failures = 0
    const update: typeof other.client.update = (resource, place, change) => {
      if (place.name !== 'bad') return other.client.update(resource, place, change)
      failures++
      return Promise.reject(new Error('it cannot be updated'))
    }
    const stop = new AbortController()
    const controller = aggregationController({ ...other, client: { ...other.client, update } })
    const run = controller.run(stop.signal)
    const rulesOf = (name: string) =>
      (other.informers.for(ref).get('c1', '', name)?.object.rules ?? []) as readonly object[]
    await controller.idle()
    await other.client.create(ref, key('a'), role('a', { to: 'x' }, 'get'))
    await until(() => (rulesOf('good').length > 0 ? true : undefined))
    await until(() => (failures > 2 ? true : undefined))
    assert.deepEqual(rulesOf('bad'), [])
    stop.abort()
    await run
    await other.stop()
  })

  it('take time in proportion to the number of rules', async () => {
    const verbs = Array.from({ length: 12_000 }, (_, i) => `v${i}`)
    await create(role('a', { to: 'x' }, ...verbs))
    await create(role('b', { to: 'x' }, ...verbs))
    await create(aggregate('all', { matchLabels: { to: 'x' } }))
    await eventually('all', ...verbs)
  })
})
