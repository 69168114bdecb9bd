import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newServiceAccountKey } from '../../../cmd/certificates/serviceaccountkey.ts'
import type { KubeObject } from '../../../framework/index.ts'
import type { Condition } from '../../../kcp/conditions.ts'
import type { LogicalClusterMigration } from '../../../kcp/migration.ts'
import type { Answered, Client } from '../../support/client.ts'
import { eventually, type Kubectl, kubectlFor, type Oriel } from '../../support/oriel.ts'
import { type FrontProxy, startFrontProxy } from '../../support/servers/frontproxy.ts'
import { type Gate, openGate } from '../../support/servers/gate.ts'
import { type Shards, startShards } from '../../support/servers/shards.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply, bind, type Tenant } from '../../support/tenants.ts'

export type ShardName = 'root' | 'beta' | 'gamma'

/** Shards behind a front proxy, as the administrator uses them. */
export interface Scene {
  readonly shards: Shards
  /** What beta sends to root passes it. */
  readonly gate: Gate
  shard(name: ShardName): Oriel
  readonly client: Client
  /** The user `nobody`, whom only roles in workspaces give permissions. */
  readonly member: Client
  /** Without credentials. */
  anonymous(): Promise<Client>
  /** A workspace by path, through the front proxy. */
  through(path: string): Kubectl
  /** The names of the ConfigMaps that a shard has of a logical cluster. */
  leftOn(shard: ShardName, cluster: string): Promise<readonly string[]>
  /** A Ready workspace on a shard. */
  tenant(parent: string, name: string, shard: ShardName, more?: object): Promise<Tenant>
  /** Creates a LogicalClusterMigration in `root`. */
  migrate(name: string, cluster: string, destinationShard: string): Promise<void>
  migration(name: string): Promise<LogicalClusterMigration>
  /** Resolves when the migration has a phase. */
  reached(name: string, phase: string): Promise<LogicalClusterMigration>
  stop(): Promise<void>
}

const migrations = '/clusters/root/apis/migration.kcp.io/v1alpha1/logicalclustermigrations'

const migrationBinding: KubeObject = {
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name: 'migration' },
  spec: { reference: { export: { path: 'root', name: 'migration.kcp.io' } } },
}

export async function openScene(names: readonly ShardName[] = ['root', 'beta']): Promise<Scene> {
  const folder = await temporaryDirectory('migration')
  const gates: Gate[] = []
  const key = join(folder, 'sa.key')
  await writeFile(key, newServiceAccountKey())
  const shards = await startShards(folder, ['--service-account-signing-key-file', key], async url => {
    const gate = await openGate(Number(new URL(url).port))
    gates.push(gate)
    return `https://127.0.0.1:${gate.port}`
  })
  const started: Oriel[] = [shards.root, shards.beta]
  if (names.includes('gamma')) started.push(await shards.join('gamma'))
  const proxy = await startFrontProxy({ folder, name: 'proxy', shards: started })
  const client = await proxy.client('admin-token')
  const member = await proxy.client('nobody-token')
  const anonymous = (): Promise<Client> => proxy.client()
  const scene = sceneOf({ shards, started, gate: gates[0] as Gate, proxy, client, member, anonymous })
  const root = scene.through('root')
  for (const name of names) await root(['wait', '--for=create', '--timeout=60s', `shard/${name}`])
  await bind({ path: 'root', cluster: 'root', kubectl: root }, migrationBinding)
  return scene
}

interface Started extends Pick<Scene, 'shards' | 'gate' | 'client' | 'member' | 'anonymous'> {
  /** In the order of the names. */
  readonly started: readonly Oriel[]
  readonly proxy: FrontProxy
}

const order: readonly ShardName[] = ['root', 'beta', 'gamma']

function sceneOf({ shards, started, gate, proxy, client, member, anonymous }: Started): Scene {
  const shard = (name: ShardName): Oriel => {
    const found = started[order.indexOf(name)]
    assert.ok(found, `${name} was not started`)
    return found
  }
  const through = (path: string): Kubectl => proxy.kubectl.at(`/clusters/${path}`)
  const migration = async (name: string): Promise<LogicalClusterMigration> => {
    const { status, text, json } = await client(`${migrations}/${name}`)
    assert.equal(status, 200, text)
    return json<LogicalClusterMigration>()
  }
  return {
    ...{ shards, gate, client, member, anonymous, shard },
    through,
    async leftOn(name, cluster) {
      const raw = ['get', '--raw', '/clusters/*/api/v1/configmaps']
      const { items = [] } = JSON.parse(await kubectlFor(shard(name), 'shard-base')(raw)) as Answered
      const found = items.filter(({ metadata }) => metadata.annotations?.['kcp.io/cluster'] === cluster)
      return found.map(({ metadata }) => metadata.name ?? '')
    },
    migration,
    reached: (name, phase) =>
      eventually(
        () => migration(name),
        ({ status }) => status?.phase === phase,
      ),
    async tenant(parent, name, on, more = {}) {
      const kubectl = through(parent)
      await apply(kubectl, workspace(name, on, more))
      await kubectl(['wait', '--for=jsonpath={.status.phase}=Ready', '--timeout=60s', `workspace/${name}`])
      const cluster = await kubectl(['get', 'workspace', name, '-o', 'jsonpath={.spec.cluster}'])
      const path = `${parent}:${name}`
      await eventually(
        () => client(`/clusters/${path}/api`),
        ({ status }) => status === 200,
      )
      return { path, cluster, kubectl: through(path) }
    },
    async migrate(name, logicalCluster, destinationShard) {
      const body = {
        apiVersion: 'migration.kcp.io/v1alpha1',
        kind: 'LogicalClusterMigration',
        metadata: { name },
        spec: { logicalCluster, destinationShard },
      }
      const headers = { 'content-type': 'application/json' }
      const { status, text } = await client(migrations, { method: 'POST', body, headers })
      assert.equal(status, 201, text)
    },
    async stop() {
      client.close()
      member.close()
      await proxy.stop()
      gate.heal()
      await Promise.all(started.map(each => each.stop()))
      await gate.close()
    },
  }
}

const workspace = (name: string, shard: ShardName, more: object): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
  spec: { location: { selector: { matchLabels: { name: shard } } }, ...more },
})

export const conditionOf = (
  { status }: LogicalClusterMigration,
  type: string,
): Pick<Condition, 'status' | 'reason' | 'message'> | undefined =>
  status?.conditions?.find(condition => condition.type === type)
