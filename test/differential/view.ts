import type { KubeConfig } from '@kubernetes/client-node'
import type { KubeObject } from '../../framework/index.ts'
import { type Client, clientOf } from '../support/client.ts'
import { apiResourceSchemaOf } from '../support/crds.ts'
import { eventually } from '../support/oriel.ts'
import { collectionOf, created, workspace } from './side.ts'
import { namespace } from './step.ts'

const apis = '/apis/apis.kcp.io'
const name = 'differential'
const claims = [{ group: '', resource: 'namespaces', verbs: ['*'] }]
const object = (version: string, kind: string, spec: object): KubeObject => ({
  apiVersion: `apis.kcp.io/${version}`,
  kind,
  metadata: { name },
  spec,
})

interface Slice {
  readonly status?: { readonly endpoints?: readonly { readonly url: string }[] }
}

/** Prepares a place in the apiexport view of a server: one consumer of an export of the definitions. */
export async function prepareView(config: KubeConfig, definitions: readonly KubeObject[]): Promise<Client> {
  const client = await clientOf(config)
  const { origin } = new URL(config.getCurrentCluster()?.server ?? '')
  const [provider, consumer] = [
    await workspace(client.at(`${origin}/clusters/root`)),
    await workspace(client.at(`${origin}/clusters/root`)),
  ]
  const providing = client.at(`${origin}/clusters/${provider}`)
  await exportAll(providing, definitions)
  const inside = client.at(`${origin}/clusters/${consumer}`)
  const permissionClaims = claims.map(claim => ({
    ...claim,
    selector: { matchAll: true },
    state: 'Accepted',
  }))
  const reference = { export: { path: provider, name } }
  const body = object('v1alpha2', 'APIBinding', { reference, permissionClaims })
  await eventually(
    () => inside(`${apis}/v1alpha2/apibindings`, { method: 'POST', body }),
    // A new export is not visible everywhere yet.
    ({ status }) => status === 201 || status === 409,
    120_000,
  )
  await created(inside, '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  })
  const view = client.at(`${await publishedUrl(providing)}/clusters/${consumer}`)
  for (const path of definitions.map(collectionOf))
    await eventually(
      () => view(path),
      ({ status }) => status === 200,
      120_000,
    )
  return view
}

async function exportAll(provider: Client, definitions: readonly KubeObject[]): Promise<void> {
  const schemas = definitions.map(definition => apiResourceSchemaOf(definition, 'v1'))
  for (const schema of schemas) await created(provider, `${apis}/v1alpha1/apiresourceschemas`, schema)
  const resources = schemas.map(({ metadata, spec }) => {
    const { group, names } = spec as { group: string; names: { plural: string } }
    return { group, name: names.plural, schema: metadata.name, storage: { crd: {} } }
  })
  const exported = object('v1alpha2', 'APIExport', { resources, permissionClaims: claims })
  await created(provider, `${apis}/v1alpha2/apiexports`, exported)
}

/** The URL of the view, which is published when the export has a binding. */
async function publishedUrl(provider: Client): Promise<string> {
  const slice = await eventually(
    () => provider(`${apis}/v1alpha1/apiexportendpointslices/${name}`),
    reply => (reply.json<Slice>().status?.endpoints?.length ?? 0) > 0,
    120_000,
  )
  return slice.json<Slice>().status?.endpoints?.[0]?.url ?? ''
}
