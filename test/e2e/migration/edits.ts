import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import { apisGroup } from '../../../kcp/apigroups.ts'
import type { APIBinding } from '../../../kcp/apis.ts'
import type { Random } from '../../model/random.ts'
import type { Client, Reply, Sent } from '../../support/client.ts'
import { eventually } from '../../support/oriel.ts'
import { bindingOf } from '../../support/tenants.ts'
import { valueLabel } from './follower.ts'
import {
  type AcceptedClaims,
  anyAccepted,
  anyClaims,
  anyTier,
  type Consumer,
  gadgetsOf,
  idOf,
  type Kind,
  type Provider,
  type World,
} from './world.ts'

/** One change of the world. Random values are chosen before it runs. */
export interface Edit {
  readonly name: string
  run(client: Client): Promise<void>
}

const merge = { 'content-type': 'application/merge-patch+json' }
const json = { 'content-type': 'application/json' }

/** Sends a write until the logical cluster does not move; fails for other refusals. */
async function write(client: Client, path: string, sent: Sent, allowed: readonly number[]): Promise<Reply> {
  const reply = await eventually(
    () => client(path, sent),
    ({ status }) => status !== 503,
  )
  assert.ok(allowed.includes(reply.status), `${sent.method} ${path}: ${reply.status} ${reply.text}`)
  return reply
}

const pathOf = ({ cluster }: Consumer | Provider, { group, resource }: Kind, name = ''): string => {
  const version = group === apisGroup ? 'v1alpha2' : 'v1'
  const api = group === '' ? 'api/v1/namespaces/default' : `apis/${group}/${version}`
  return `/clusters/${cluster}/${api}/${resource}${name && `/${name}`}`
}

const kindNames: Readonly<Record<string, string>> = {
  gadgets: 'Gadget',
  configmaps: 'ConfigMap',
  secrets: 'Secret',
}

/** Creates an object, or changes its labels. */
export function put(random: Random, consumer: Consumer, kind: Kind): Edit {
  const name = anyName(random)
  const tier = anyTier(random)
  return {
    name: `put ${idOf(kind)} ${name} ${tier} in ${consumer.path}`,
    async run(client) {
      const objects = consumer.objects.get(idOf(kind)) ?? new Map()
      const value = nextValue(consumer, `${idOf(kind)}/${name}`)
      const labels = { tier, [valueLabel]: String(value) }
      const apiVersion = kind.group === '' ? 'v1' : `${kind.group}/v1`
      const body = { apiVersion, kind: kindNames[kind.resource], metadata: { name, labels } }
      if (objects.has(name))
        await write(client, pathOf(consumer, kind, name), { method: 'PATCH', body, headers: merge }, [200])
      else await write(client, pathOf(consumer, kind), { method: 'POST', body, headers: json }, [201])
      consumer.objects.set(idOf(kind), objects.set(name, { tier, value }))
    },
  }
}

const anyName = (random: Random): string => `o-${random.number(3)}`

function nextValue({ values }: Consumer, id: string): number {
  const value = (values.get(id) ?? 0) + 1
  values.set(id, value)
  return value
}

function remove(random: Random, consumer: Consumer, kind: Kind): Edit {
  const name = anyName(random)
  return {
    name: `delete ${idOf(kind)} ${name} in ${consumer.path}`,
    async run(client) {
      if (consumer.objects.get(idOf(kind))?.delete(name) !== true) return
      await write(client, pathOf(consumer, kind, name), { method: 'DELETE' }, [200])
    },
  }
}

const bindings: Kind = { group: apisGroup, resource: 'apibindings' }

/** Accepts other claims. */
function accept(random: Random, world: World, consumer: Consumer, provider: Provider): Edit {
  const claims = anyAccepted(random, world, provider)
  const permissionClaims = acceptedIn(world, claims)
  return {
    name: `accept ${JSON.stringify([...claims])} of ${provider.group} in ${consumer.path}`,
    async run(client) {
      const path = pathOf(consumer, bindings, provider.group)
      const body = { spec: { permissionClaims } }
      await write(client, path, { method: 'PATCH', body, headers: merge }, [200])
      consumer.bindings.set(provider, claims)
    },
  }
}

const acceptedIn = (world: World, claims: AcceptedClaims): readonly object[] =>
  [...claims].map(([index, { state, selector }]) => ({
    ...claimOf(world, index),
    state,
    selector: selector === 'all' ? { matchAll: true } : { matchLabels: { tier: selector } },
  }))

function claimOf({ claimable, providers }: World, index: number): object {
  const kind = claimable[index]
  assert.ok(kind)
  const { identity } = providers.find(({ group }) => group === kind.group) ?? {}
  return { ...kind, verbs: ['*'], ...(identity && { identityHash: identity }) }
}

/** A change in the workspace of a consumer. */
export function anyEdit(random: Random, world: World, consumer: Consumer): Edit {
  const bound = [...consumer.bindings.keys()]
  const kinds = [...world.claimable.filter(({ group }) => group === ''), ...bound.map(gadgetsOf)]
  if (bound.length > 0 && random.chance(0.25)) return accept(random, world, consumer, random.pick(bound))
  return (random.chance(0.7) ? put : remove)(random, consumer, random.pick(kinds))
}

/** Binds an export, or removes the binding. */
export function bindOrUnbind(random: Random, world: World): Edit {
  const [consumer, provider] = [random.pick(world.consumers), random.pick(world.providers)]
  if (consumer.bindings.has(provider)) return unbind(consumer, provider)
  return bindTo(world, consumer, provider, anyAccepted(random, world, provider))
}

/** Removes a binding, and the gadgets with it. */
export function unbind(consumer: Consumer, provider: Provider): Edit {
  const path = pathOf(consumer, bindings, provider.group)
  return {
    name: `unbind ${provider.group} in ${consumer.path}`,
    async run(client) {
      await write(client, path, { method: 'DELETE' }, [200])
      await eventually(
        () => client(path),
        ({ status }) => status === 404,
      )
      consumer.bindings.delete(provider)
      consumer.objects.delete(idOf(gadgetsOf(provider)))
    },
  }
}

export function bindTo(world: World, consumer: Consumer, provider: Provider, claims: AcceptedClaims): Edit {
  const { group } = provider
  return {
    name: `bind ${group} with ${JSON.stringify([...claims])} in ${consumer.path}`,
    async run(client) {
      await bindNow(client, consumer, bindingOf(provider, group, acceptedIn(world, claims)))
      consumer.bindings.set(provider, claims)
    },
  }
}

/** The export reaches the shard of the consumer some time after it was created. */
async function bindNow(client: Client, consumer: Consumer, body: KubeObject): Promise<void> {
  await eventually(
    () => client(pathOf(consumer, bindings), { method: 'POST', body, headers: json }),
    ({ status }) => status === 201,
  )
  const path = pathOf(consumer, bindings, body.metadata.name)
  await eventually(
    async () => (await client(path)).json<APIBinding>(),
    ({ status }) => status?.phase === 'Bound',
  )
}

/** Lets an export claim other resources. */
export function claimAny(random: Random, world: World): Edit {
  const provider = random.pick(world.providers)
  return claim(world, provider, anyClaims(random, world, provider.group))
}

export const claim = (world: World, provider: Provider, claims: ReadonlySet<number>): Edit => ({
  name: `claim ${[...claims]} for ${provider.group}`,
  async run(client) {
    const permissionClaims = [...claims].map(index => claimOf(world, index))
    const path = pathOf(provider, { group: apisGroup, resource: 'apiexports' }, provider.group)
    provider.settled = new Set([...provider.settled].filter(each => claims.has(each)))
    await write(
      client,
      path,
      { method: 'PATCH', body: { spec: { permissionClaims } }, headers: merge },
      [200],
    )
    provider.claims = claims
  },
})
