import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../../../framework/index.ts'
import { fixture, widget } from '../../../conformance/fixture.ts'
import { type Client, clientOf, type Reply } from '../../../support/client.ts'
import { type Oriel, startOriel } from '../../../support/oriel.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'
import {
  apply,
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../../../support/tenants.ts'
import { configAt, userAt } from '../../../support/watcher.ts'

const tokens = 'mallory-token,mallory,1\nprovider-token,provider,2\nbob-token,bob,3\n'
export const hush = 'aHVzaC1odXNo'
export const secrets = '/api/v1/namespaces/default/secrets'
export const configMaps = '/api/v1/namespaces/default/configmaps'
export const widgets = '/apis/example.com/v1/namespaces/default/widgets'
export const exported = '/apis/apis.kcp.io/v1alpha2'
export const rbac = '/apis/rbac.authorization.k8s.io/v1'
export const identityLabel = 'internal.apis.kcp.io/export'
export const claimedPrefix = 'claimed.internal.apis.kcp.io/'

export const secret: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'hush', namespace: 'default' },
  data: { word: hush },
}
export const configMap = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', labels },
  data: { word: hush },
})
export const binding = (
  name: string,
  path: string,
  of = fixture.metadata.name?.replace('widgets.', '') ?? '',
) => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIBinding',
  metadata: { name },
  spec: { reference: { export: { path, name: of } } },
})
export const claim = (selector: object, verbs: readonly string[] = ['*']) => ({
  group: '',
  resource: 'configmaps',
  verbs,
  selector,
  state: 'Accepted',
})

/**
 * Mallory administers one workspace, `lair`. A provider's export is bound in `victim`, which has shared one ConfigMap.
 */
export interface Lair {
  readonly oriel: Oriel
  readonly admin: Client
  readonly mallory: Client
  readonly nobody: Client
  readonly lair: Tenant
  readonly victim: Tenant
  readonly provider: Tenant
  /** Of the provider's export. */
  readonly identity: string
  /** The path of its view. */
  readonly view: string
}

export async function openLair(): Promise<Lair> {
  const directory = await temporaryDirectory('attacks')
  const file = join(directory, 'tokens.csv')
  await writeFile(file, tokens)
  const oriel = await startOriel({ directory, args: ['--token-auth-file', file, '--store', 'memory:'] })
  const tenants = await createWorkspaces(oriel, ['lair', 'victim', 'provider'])
  const [lair, victim, provider] = tenants as [Tenant, Tenant, Tenant]
  const admins = ['create', 'clusterrolebinding', 'mallory', '--clusterrole=cluster-admin', '--user=mallory']
  await lair.kubectl(admins)
  const name = await exportApi(provider, fixture, [{ group: '', resource: 'configmaps' }])
  const shared = claim({ matchLabels: { shared: 'yes' } }, ['get', 'list', 'watch'])
  await bind(victim, bindingOf(provider, name, [shared]))
  await apply(victim.kubectl, secret, configMap('open', { shared: 'yes' }), configMap('closed'))
  await apply(victim.kubectl, { ...widget('hush'), metadata: { name: 'hush', namespace: 'default' } })
  return {
    oriel,
    lair,
    victim,
    provider,
    admin: await clientOf(configAt(oriel, oriel.url)),
    mallory: await clientOf(userAt(oriel, oriel.url, 'mallory-token')),
    nobody: await clientOf(userAt(oriel, oriel.url)),
    identity: await provider.kubectl(['get', 'apiexport', name, '-o', 'jsonpath={.status.identityHash}']),
    view: new URL(await publishedUrl(provider, name)).pathname,
  }
}

export const at = (tenant: Tenant): string => `/clusters/${tenant.cluster}`
export const text = ({ text }: Reply): string => text

export const refused = (reply: Reply, code = 403): void => {
  assert.equal(reply.status, code, reply.text.slice(0, 400))
  assert.ok(!reply.text.includes(hush))
}

export const done = (reply: Reply, code = 200): Reply => {
  assert.equal(reply.status, code, reply.text.slice(0, 400))
  return reply
}
