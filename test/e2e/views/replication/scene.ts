import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../../../framework/index.ts'
import { type Client, clientOf } from '../../../support/client.ts'
import { eventually, type Oriel } from '../../../support/oriel.ts'
import { bindRegions, publish, region, sliceUrl, virtualExport } from '../../../support/published.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import { apply, createWorkspaces, type Tenant } from '../../../support/tenants.ts'
import { configAt, userAt } from '../../../support/watcher.ts'

export const regionsPath = '/apis/example.com/v1/regions'
const tokens = 'reader-token,reader,1\nmallory-token,mallory,2\n'
export const isKcp = Boolean(process.env.KCP_BIN)

export interface List {
  readonly items: readonly KubeObject[]
}

export const names = async (client: Client, at: string): Promise<readonly string[]> =>
  (await client(at)).json<List>().items.map(({ metadata }) => metadata.name ?? '')

/** A provider publishes regions, a consumer binds them; `lair` is not related to either. */
export interface Replication {
  readonly oriel: Oriel
  readonly provider: Tenant
  readonly consumer: Tenant
  readonly lair: Tenant
  readonly admin: Client
  readonly reader: Client
  /** The identity hash of the published resource. */
  readonly identity: string
  /** Of the view. */
  readonly url: string
}

export async function openReplication(
  start: (args: readonly string[]) => Promise<Oriel>,
): Promise<Replication> {
  const file = join(await temporaryDirectory('replication'), 'tokens.csv')
  await writeFile(file, tokens)
  const gates = isKcp ? ['--feature-gates=CacheAPIs=true'] : []
  const oriel = await start(['--token-auth-file', file, ...gates])
  const tenants = await createWorkspaces(oriel, ['provider', 'consumer', 'lair'])
  const [provider, consumer, lair] = tenants as [Tenant, Tenant, Tenant]
  const identity = await publish(provider)
  await apply(provider.kubectl, ...virtualExport(identity, { name: 'regions' }))
  await provider.kubectl(['wait', '--for=condition=IdentityValid', 'apiexport/example.com'])
  await bindRegions(consumer, provider)
  await apply(provider.kubectl, region('north', { public: 'yes' }), region('hidden'))
  const admin = await clientOf(configAt(oriel, ''))
  const reader = await clientOf(userAt(oriel, '', 'reader-token'))
  const url = await sliceUrl(provider)
  const scene = { oriel, provider, consumer, lair, admin, reader, identity, url }
  await eventually(
    () => names(admin, inside(scene, consumer)),
    found => found.length > 0,
  )
  return scene
}

export const path = (scene: Replication, cluster: string, rest = regionsPath): string =>
  `${scene.url}/clusters/${cluster}${rest}`

export const inside = (scene: Replication, { cluster }: Tenant, rest = regionsPath): string =>
  `${scene.oriel.url}/clusters/${cluster}${rest}`
