import assert from 'node:assert/strict'
import type { MigrationStatus } from '../../../kcp/migration.ts'
import { type Client, clientOf } from '../../support/client.ts'
import { clusterGadgets } from '../../support/crds.ts'
import { eventually } from '../../support/oriel.ts'
import { apply, exportApi, rolesFor } from '../../support/tenants.ts'
import { configAt } from '../../support/watcher.ts'
import type { Edit } from './edits.ts'
import { openScene, type Scene, type ShardName } from './scene.ts'
import { Streams } from './streams.ts'
import {
  type Consumer,
  expectedOf,
  gadgetsOf,
  idOf,
  type Kind,
  kindsOf,
  type Placed,
  type Provider,
  type World,
} from './world.ts'

/** A provider and a consumer on each of some shards, compared with the model after every edit. */
export interface ModelScene {
  readonly scene: Scene
  readonly world: World
  /** Moves a workspace to a shard while consumers change their objects. */
  move(name: string, placed: Placed, to: ShardName, meanwhile: readonly (readonly Edit[])[]): Edit
  /** Kills shards and starts them again. */
  restart(names: readonly ShardName[]): Edit
  /** Moves a workspace to a shard while shards are killed, one after the other. */
  moveWithKills(name: string, placed: Placed, to: ShardName, killed: readonly ShardName[]): Edit
  /** Makes a change, and waits until lists and streams show what one shard would show. */
  make(edit: Edit): Promise<void>
  stop(): Promise<void>
}

const claimedKinds: readonly Kind[] = ['configmaps', 'secrets'].map(resource => ({ group: '', resource }))

/** `providing`: the shards with a provider. */
export async function openModelScene(
  names: readonly ShardName[],
  providing: readonly ShardName[] = names,
): Promise<ModelScene> {
  const scene = await openScene(names)
  const direct = new Map<string, Client>()
  await inTurn(names, name => connect(scene, direct, name))
  const providers = await inTurn(providing, name => providerOn(scene, name))
  const consumers = await inTurn(names, name => consumerOn(scene, name))
  const world: World = {
    isDown: false,
    providers,
    consumers,
    claimable: [...claimedKinds, ...providers.map(gadgetsOf)],
  }
  const clientAt = (url: string): Client => {
    const client = direct.get(new URL(url).port)
    assert.ok(client, url)
    return client
  }
  const streams = providers.map(provider => new Streams({ world, provider, client: scene.client, clientAt }))
  const done: string[] = []
  const restart = (killed: readonly ShardName[]): Edit => ({
    name: `kill ${killed}`,
    run: () => kill(scene, world, direct, killed),
  })
  return {
    restart,
    scene,
    world,
    move: (name, placed, to, meanwhile) =>
      moving({ scene, world, streams, name, placed, to, meanwhile, isCalm: true }),
    moveWithKills: (name, placed, to, killed) =>
      moving({ scene, world, streams, name, placed, to, meanwhile: [[restart(killed)]], isCalm: false }),
    async make(edit) {
      done.push(edit.name)
      const failed = (error: Error): never => assert.fail(`${error.message} after\n${done.join('\n')}`)
      await edit.run(scene.client).catch(failed)
      await eventually(
        async () => [...urlDifferences(scene, world, streams), ...(await differences(world, streams))],
        found => found.length === 0,
      ).catch(failed)
      const problems = streams.flatMap(each => each.problems)
      assert.deepEqual(problems, [], done.join('\n'))
      for (const provider of providers) provider.settled = provider.claims
    },
    async stop() {
      for (const each of streams) each.stop()
      for (const client of direct.values()) client.close()
      await scene.stop()
    },
  }
}

async function inTurn<T, R>(all: readonly T[], make: (each: T) => Promise<R>): Promise<readonly R[]> {
  const made: R[] = []
  for (const each of all) made.push(await make(each))
  return made
}

/** Clients of shards, by their ports. A shard has other tokens after a restart. */
async function connect(scene: Scene, direct: Map<string, Client>, name: ShardName): Promise<void> {
  const shard = scene.shard(name)
  const { port } = new URL(shard.url)
  direct.set(port, await clientOf(configAt(shard, shard.url)))
}

async function providerOn(scene: Scene, shard: ShardName): Promise<Provider> {
  const tenant = await scene.tenant('root', `provider-${shard}`, shard)
  const group = `${shard}.example.com`
  await exportApi(tenant, clusterGadgets(group), [])
  const query = 'jsonpath={.status.identityHash}'
  const identity = await tenant.kubectl(['get', 'apiexport', group, '-o', query])
  return { ...tenant, shard, group, identity, claims: new Set(), settled: new Set() }
}

async function consumerOn(scene: Scene, shard: ShardName): Promise<Consumer> {
  const tenant = await scene.tenant('root', `consumer-${shard}`, shard)
  const reads = { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }
  await apply(tenant.kubectl, ...rolesFor('nobody', reads))
  return { ...tenant, shard, bindings: new Map(), objects: new Map(), values: new Map() }
}

async function kill(
  scene: Scene,
  world: World,
  direct: Map<string, Client>,
  names: readonly ShardName[],
): Promise<void> {
  world.isDown = true
  for (const name of names) await scene.shard(name).restart()
  await inTurn(names, name => connect(scene, direct, name))
  world.isDown = false
}

interface Moving {
  readonly scene: Scene
  readonly world: World
  readonly streams: readonly Streams[]
  readonly name: string
  readonly placed: Placed
  readonly to: ShardName
  /** The edits of each consumer, in order. */
  readonly meanwhile: readonly (readonly Edit[])[]
  /** Whether no shard is killed. */
  readonly isCalm: boolean
}

function moving(all: Moving): Edit {
  const { scene, name, placed, to, meanwhile } = all
  const others = meanwhile.flat().map(edit => edit.name)
  return {
    name: `move ${placed.path} to ${to}, meanwhile ${others.join(', ')}`,
    async run(client) {
      await scene.migrate(name, placed.cluster, to)
      const edits = meanwhile.map(each => inTurn(each, edit => edit.run(client)))
      await Promise.all([moved(all), ...edits])
      placed.shard = to
    },
  }
}

const moved = (moving: Moving): Promise<unknown> =>
  eventually(
    async () => {
      for (const each of moving.streams) each.follow()
      return check(moving).catch((error): undefined => {
        if (moving.isCalm) throw error
      })
    },
    status => status?.phase === 'Completed',
  )

async function check({ scene, name, placed }: Moving): Promise<MigrationStatus | undefined> {
  await checkReads(scene.client, placed)
  // Providers have no roles for the user.
  if ('bindings' in placed) await checkReads(scene.member, placed)
  const { status } = await scene.migration(name)
  assert.notEqual(status?.phase, 'Failed', JSON.stringify(status))
  return status
}

/** A workspace that moves is complete, or says that it is not available now. */
async function checkReads(client: Client, { cluster }: Placed): Promise<void> {
  const { status, text } = await client(`/clusters/${cluster}/api/v1/configmaps`)
  const isComplete = status === 200 && text.includes('kube-root-ca.crt')
  assert.ok(isComplete || status === 503, `a list of a workspace that moves: ${status} ${text}`)
}

/** A slice lists the URL of every shard with bindings, and of no other. */
const urlDifferences = (scene: Scene, world: World, streams: readonly Streams[]): readonly string[] =>
  world.providers.flatMap((provider, i) => {
    const consumers = world.consumers.filter(({ bindings }) => bindings.has(provider))
    const ports = new Set(consumers.map(({ shard }) => new URL(scene.shard(shard).url).port))
    const listed = streams[i]?.urls.map(url => new URL(url).port) ?? []
    const [found, wanted] = [listed, [...ports]].map(each => each.toSorted().join(' '))
    return found === wanted ? [] : [`${provider.group} lists the ports ${found} instead of ${wanted}`]
  })

/** What lists and streams show of each export, where it is not what one shard would show. */
async function differences(world: World, streams: readonly Streams[]): Promise<readonly string[]> {
  const all = world.providers.flatMap((provider, i) =>
    kindsOf(world, provider).map(async kind => {
      const stream = streams[i] as Streams
      stream.follow()
      const expected = expectedOf(world, provider, kind)
      const found = { watched: stream.shown(kind), listed: await stream.listed(kind) }
      return Object.entries(found).flatMap(([how, ids]) => {
        const [shown, wanted] = [ids, expected].map(each => each.toSorted().join(' '))
        const where = `${idOf(kind)} ${how} in ${provider.group}`
        return shown === wanted ? [] : [`${where}: ${shown || 'nothing'} instead of ${wanted || 'nothing'}`]
      })
    }),
  )
  return (await Promise.all(all)).flat()
}
