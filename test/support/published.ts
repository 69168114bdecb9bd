import type { KubeObject } from '../../framework/index.ts'
import { apiResourceSchemaOf } from './crds.ts'
import { eventually } from './oriel.ts'
import { apply, bind, bindingOf, type Tenant } from './tenants.ts'

const text = { type: 'object', properties: { zone: { type: 'string' } } }

/** A cluster-scoped kind. */
export const regions: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'regions.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'regions', singular: 'region', kind: 'Region', listKind: 'RegionList' },
    scope: 'Cluster',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: text, status: text } } },
      },
    ],
  },
}

export const region = (name: string, labels: Readonly<Record<string, string>> = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Region',
  metadata: { name, labels },
  spec: { zone: name },
})

export const cachedResource = (name: string, spec: object): KubeObject => ({
  apiVersion: 'cache.kcp.io/v1alpha1',
  kind: 'ClusterCachedResource',
  metadata: { name },
  spec: { group: 'example.com', version: 'v1', resource: 'regions', ...spec },
})

const publicOnes = { labelSelector: { matchLabels: { public: 'yes' } } }

/** Publishes the provider's public regions, for an export to offer. Returns the identity. */
export async function publish(provider: Tenant, spec: object = publicOnes): Promise<string> {
  const { kubectl } = provider
  await apply(kubectl, regions, apiResourceSchemaOf(regions, 'v1'))
  await kubectl(['wait', '--for=condition=Established', '--timeout=60s', 'crd/regions.example.com'])
  await apply(kubectl, cachedResource('regions', spec))
  await kubectl([
    'wait',
    '--for=condition=ReplicationStarted',
    '--timeout=60s',
    'clustercachedresource/regions',
  ])
  return kubectl(['get', 'clustercachedresource', 'regions', '-o', 'jsonpath={.status.identityHash}'])
}

/** An export of the published objects of an identity, and its slice. */
export const virtualExport = (identityHash: string, published: object): readonly KubeObject[] => [
  {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIExport',
    metadata: { name: 'example.com' },
    spec: {
      resources: [
        {
          group: 'example.com',
          name: 'regions',
          schema: 'v1.regions.example.com',
          storage: {
            virtual: {
              identityHash,
              reference: {
                apiGroup: 'cache.kcp.io',
                kind: 'ClusterCachedResourceEndpointSlice',
                name: 'regions',
              },
            },
          },
        },
      ],
    },
  },
  {
    apiVersion: 'cache.kcp.io/v1alpha1',
    kind: 'ClusterCachedResourceEndpointSlice',
    metadata: { name: 'regions' },
    spec: { clusterCachedResource: published, export: { name: 'example.com' } },
  },
]

export const bindRegions = (consumer: Tenant, provider: Tenant): Promise<void> =>
  bind(consumer, bindingOf(provider, 'example.com', []))

interface Slice {
  readonly status?: { readonly endpoints?: readonly { readonly url: string }[] }
}

/** The URL that the slice lists. */
export async function sliceUrl(provider: Tenant): Promise<string> {
  const { status } = await eventually(
    () => provider.kubectl.json<Slice>(['get', 'clustercachedresourceendpointslice', 'regions']),
    found => (found.status?.endpoints?.length ?? 0) > 0,
  )
  return status?.endpoints?.[0]?.url ?? ''
}
