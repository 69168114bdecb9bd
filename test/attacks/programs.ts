import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../framework/index.ts'
import { type Oriel, readText, startOriel } from '../support/oriel.ts'
import { startFrontProxy, writeProxyAuthority } from '../support/servers/frontproxy.ts'
import { startStandalone } from '../support/servers/standalone.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import {
  apply,
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  rolesFor,
  type Tenant,
} from '../support/tenants.ts'
import { repeatDuring } from '../support/time/during.ts'
import { ask } from '../support/wire.ts'
import type { Attacker } from './stalling.ts'

/** A user of a program, and a collection of objects that this user may read and write. */
export interface Resident extends Attacker {
  /** Of the collection, below the URL. */
  readonly path: string
  /** Where its objects are created, below the URL. */
  readonly creates: string
  /** An object of the collection with a text of so many bytes. */
  object(name: string, size: number): KubeObject
}

/** A running program with two users, each with objects of its own. */
export interface Scene {
  readonly attacker: Resident
  readonly victim: Resident
  /** Takes the permissions of the attacker away. */
  revoke(): Promise<void>
  stop(): Promise<void>
}

export const statusOf = async (
  { url, ca, token }: Attacker,
  path: string,
  object?: object,
): Promise<number> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const sent = object === undefined ? {} : { method: 'POST', body: JSON.stringify(object) }
  return (await ask('HTTP/2', url + path, { ca, headers, ...sent })).status
}

export const create = (of: Resident, name: string, size: number): Promise<number> =>
  statusOf(of, of.creates, of.object(name, size))

/** The victim is answered until the attack is over. */
export const answeredDuring = ({ victim }: Scene, attack: Promise<unknown>): Promise<number> =>
  repeatDuring(attack, async () => assert.equal(await statusOf(victim, victim.path), 200))

export const maxConnections = 60

const limits = [
  ...['--max-requests-inflight', '20', '--max-mutating-requests-inflight', '10'],
  ...['--max-connections', String(maxConnections)],
]
const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
const users = 'user-1-token,user-1,1\nuser-2-token,user-2,2\n'

async function userFile(folder: string, more = ''): Promise<readonly string[]> {
  const file = join(folder, 'users.csv')
  await writeFile(file, users + more)
  return ['--token-auth-file', file]
}

const configMap = (name: string, size: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { text: 'x'.repeat(size) },
})

type Revoke = Scene['revoke']

/** A workspace for each user. */
async function twoWorkspaces(shard: Oriel): Promise<Revoke> {
  const tenants = await createWorkspaces(shard, ['attacker', 'victim'])
  for (const [i, tenant] of tenants.entries())
    await apply(tenant.kubectl, ...rolesFor(`user-${i + 1}`, everything))
  return revoking(tenants[0] as Tenant)
}

const revoking =
  ({ kubectl }: Tenant): Revoke =>
  async () =>
    void (await kubectl(['delete', 'clusterrolebinding', 'user-1-in-tests']))

function inWorkspace(url: string, ca: string, name: 'attacker' | 'victim'): Resident {
  const path = `/clusters/root:${name}/api/v1/namespaces/default/configmaps`
  const token = name === 'attacker' ? 'user-1-token' : 'user-2-token'
  return { url, ca, token, path, creates: path, object: configMap }
}

export async function inOneProcess(): Promise<Scene> {
  const directory = await temporaryDirectory('attacks')
  const shard = await startOriel({
    directory,
    args: ['--store', 'memory:', '--webhook-allow', '127.0.0.1', ...limits, ...(await userFile(directory))],
  })
  const revoke = await twoWorkspaces(shard)
  const ca = await readText(join(directory, 'ca.crt'))
  return {
    attacker: inWorkspace(shard.url, ca, 'attacker'),
    victim: inWorkspace(shard.url, ca, 'victim'),
    revoke,
    stop: async () => void (await shard.stop()),
  }
}

export async function behindFrontProxy(): Promise<Scene> {
  const folder = await temporaryDirectory('attacks')
  const trusted = await writeProxyAuthority(folder)
  const args = ['--store', 'memory:', '--webhook-allow', '127.0.0.1', ...trusted]
  const shard = await startOriel({ args })
  const revoke = await twoWorkspaces(shard)
  const proxy = await startFrontProxy({
    folder,
    name: 'proxy',
    shards: [shard],
    args: [...limits, ...(await userFile(folder))],
  })
  const ca = await readText(join(folder, 'proxy-data', 'ca.crt'))
  return {
    attacker: inWorkspace(proxy.url, ca, 'attacker'),
    victim: inWorkspace(proxy.url, ca, 'victim'),
    revoke,
    stop: async () => {
      await proxy.stop()
      await shard.stop()
    },
  }
}

const blobs = (group: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `blobs.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural: 'blobs', singular: 'blob', kind: 'Blob', listKind: 'BlobList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})

/** A provider of an API with one consumer, as its user sees the objects through the view. */
async function provider(
  shard: Oriel,
  name: 'attacker' | 'victim',
): Promise<{ readonly path: string; readonly revoke: Revoke }> {
  const group = `${name}.example.com`
  const [own, consumer] = (await createWorkspaces(shard, [name, `${name}-consumer`])) as [Tenant, Tenant]
  const exported = await exportApi(own, blobs(group), [])
  await bind(consumer, bindingOf(own, exported, []))
  const user = name === 'attacker' ? 'user-1' : 'user-2'
  await apply(own.kubectl, ...rolesFor(user, everything))
  const { pathname } = new URL(await publishedUrl(own, exported))
  return { path: `${pathname}/clusters/${consumer.cluster}`, revoke: revoking(own) }
}

export async function inFrontOfShard(): Promise<Scene> {
  const folder = await temporaryDirectory('attacks')
  const shard = await startStandalone(limits, ['--store', 'memory:', ...(await userFile(folder))])
  const ca = await readText(join(shard.shard.directory, 'ca.crt'))
  const [attacker, victim] = [await provider(shard, 'attacker'), await provider(shard, 'victim')]
  const resident = (name: 'attacker' | 'victim', of: { readonly path: string }): Resident => {
    const path = `${of.path}/apis/${name}.example.com/v1/blobs`
    const token = name === 'attacker' ? 'user-1-token' : 'user-2-token'
    const object = (of: string, size: number): KubeObject => ({
      apiVersion: `${name}.example.com/v1`,
      kind: 'Blob',
      metadata: { name: of },
      text: 'x'.repeat(size),
    })
    return { url: shard.viewsUrl, ca, token, path, creates: path, object }
  }
  return {
    attacker: resident('attacker', attacker),
    victim: resident('victim', victim),
    revoke: attacker.revoke,
    stop: async () => void (await shard.stop()),
  }
}

export const programs: Readonly<Record<string, () => Promise<Scene>>> = {
  'oriel start': inOneProcess,
  'oriel front-proxy': behindFrontProxy,
  'oriel virtual-workspaces': inFrontOfShard,
}
