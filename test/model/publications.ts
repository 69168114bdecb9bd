import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import type { Manifest } from '../../shard/manifests/manifest.ts'
import type { Random } from './random.ts'

/** The published `regions` of one provider, as an export with `storage.virtual` offers them. */
export interface Publication {
  readonly cluster: string
  /** Whether slice and resource are valid. */
  readonly isValid: boolean
  /** The identity hash of the published resource, and the one that the export names. */
  readonly identity: string
  readonly named: string
  /** Only the objects of this tier; default: all. */
  readonly tier?: string
  readonly regions: readonly { readonly name: string; readonly tier: string }[]
}

const tiers = ['front', 'back']

export const publicationsIn = (random: Random, providers: readonly string[]): readonly Publication[] =>
  providers.map(cluster => ({
    cluster,
    isValid: random.chance(0.85),
    identity: `published-${cluster}`,
    named: random.chance(0.85) ? `published-${cluster}` : 'published-other',
    ...(random.chance(0.5) && { tier: random.pick(tiers) }),
    regions: ['r1', 'r2', 'r3'].map(name => ({ name, tier: random.pick(tiers) })),
  }))

const kind = {
  group: 'example.com',
  names: { plural: 'regions', singular: 'region', kind: 'Region', listKind: 'RegionList' },
  scope: 'Cluster',
}
const version = { name: 'v1', served: true, storage: true }
const schema = { type: 'object' }
const sliceName = 'regions'

/** The part of an export that offers it. */
export const offerOf = ({ named }: Publication): object => {
  const reference = { apiGroup: 'cache.kcp.io', kind: 'ClusterCachedResourceEndpointSlice', name: sliceName }
  const storage = { virtual: { identityHash: named, reference } }
  return { group: 'example.com', name: 'regions', schema: 'v1.regions.example.com', storage }
}

const conditions = (status: boolean, ...types: readonly string[]): readonly object[] =>
  types.map(type => ({ type, status: status ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }))

/** Manifests of the server's own kinds by default. */
const custom = (resource: ResourceRef): ResourceRef => ({ ...resource, identity: 'customresources' })

/** All objects of a publication except its export. */
export function publicationManifests(publication: Publication): readonly Manifest[] {
  const { cluster } = publication
  const made = (resource: ResourceRef, object: KubeObject): Manifest => ({ cluster, resource, object })
  return [
    made(resources.crds, definition),
    made(resources.apiResourceSchemas, {
      apiVersion: 'apis.kcp.io/v1alpha1',
      kind: 'APIResourceSchema',
      metadata: { name: 'v1.regions.example.com' },
      spec: { ...kind, versions: [{ ...version, schema }] },
    }),
    made(custom(resources.clusterCachedResources), published(publication)),
    made(custom(resources.cachedResourceSlices), slice(publication)),
    ...publication.regions.map(({ name, tier }) =>
      made(custom({ group: 'example.com', version: 'v1', resource: 'regions' }), {
        apiVersion: 'example.com/v1',
        kind: 'Region',
        metadata: { name, labels: { tier } },
      }),
    ),
  ]
}

const definition: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'regions.example.com' },
  spec: { ...kind, versions: [{ ...version, schema: { openAPIV3Schema: schema } }] },
  status: {
    acceptedNames: kind.names,
    storedVersions: ['v1'],
    conditions: conditions(true, 'Established', 'NamesAccepted'),
  },
}

const published = ({ isValid, identity, tier }: Publication): KubeObject => ({
  apiVersion: 'cache.kcp.io/v1alpha1',
  kind: 'ClusterCachedResource',
  metadata: { name: 'regions' },
  spec: {
    group: 'example.com',
    version: 'v1',
    resource: 'regions',
    ...(tier && { labelSelector: { matchLabels: { tier } } }),
  },
  status: { identityHash: identity, conditions: conditions(isValid, 'ResourceValid') },
})

const slice = ({ cluster, isValid }: Publication): KubeObject => ({
  apiVersion: 'cache.kcp.io/v1alpha1',
  kind: 'ClusterCachedResourceEndpointSlice',
  metadata: { name: sliceName },
  spec: { clusterCachedResource: { name: 'regions' }, export: { path: cluster, name: 'widgets' } },
  status: { conditions: conditions(isValid, 'ResourceValid', 'APIExportValid') },
})
