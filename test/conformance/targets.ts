import type { KubeObject } from '../../framework/index.ts'
import { type Client, clientOf } from '../support/client.ts'
import type { Oriel } from '../support/oriel.ts'
import {
  apply,
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../support/tenants.ts'
import { configAt } from '../support/watcher.ts'
import { expect, fixture, namespaces, post, type Target } from './fixture.ts'

const claimed = ['namespaces', 'configmaps']
const claims = claimed.map(resource => ({ group: '', resource, verbs: ['*'] }))
const accepted = claims.map(claim => ({ ...claim, selector: { matchAll: true }, state: 'Accepted' }))

/** A workspace that serves fixture F as a CRD. */
export async function workspaceTarget(oriel: Oriel): Promise<Target> {
  const [tenant] = (await createWorkspaces(oriel, ['workspace'])) as [Tenant]
  await apply(tenant.kubectl, fixture)
  await tenant.kubectl([
    'wait',
    '--for=condition=Established',
    '--timeout=60s',
    'crd',
    fixture.metadata.name ?? '',
  ])
  return targetAt(await clientOf(configAt(oriel, `${oriel.url}/clusters/${tenant.path}`)), 404)
}

/** A consumer of an export of fixture F, by the view's URL for that logical cluster. */
export async function viewTarget(oriel: Oriel): Promise<Target> {
  const [provider, tenant] = (await createWorkspaces(oriel, ['provider', 'consumer'])) as [Tenant, Tenant]
  const name = await exportApi(provider, fixture, claims)
  await bind(tenant, bindingOf(provider, name, accepted))
  const url = await publishedUrl(provider, name)
  return targetAt(await clientOf(configAt(oriel, `${url}/clusters/${tenant.cluster}`)), 403)
}

function targetAt(client: Client, unknown: Target['unknown']): Target {
  let count = 0
  const fresh = () => `w${++count}`
  const namespace = async (): Promise<string> => {
    const name = fresh()
    await expect(201, client(namespaces, post(namespaceOf(name))))
    return name
  }
  return {
    client,
    fresh,
    namespace,
    unknown,
    isView: unknown === 403,
    isKcp: process.env.KCP_BIN !== undefined,
  }
}

const namespaceOf = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
})
