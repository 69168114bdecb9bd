import type { SharedCache } from '../../framework/contract/sharedcache.ts'
import type { ApiResource } from '../../framework/index.ts'
import { crossClusterRead } from '../../framework/informers/crossclusterread.ts'
import type { ClusterCachedResource } from '../../kcp/index.ts'
import { definitionOf, readOnlyResourcesOf } from '../../openapi/index.ts'
import { KeptApis } from '../shared/exports/exports.ts'
import { dependenciesOf, type Publication, type SliceParams, type Slices } from './slices.ts'

/** The ApiSets of all slices. */
export function sliceApis(shared: SharedCache, slices: Slices): KeptApis<SliceParams> {
  const apis = new KeptApis<SliceParams>(params => {
    const found = slices.find(params)
    if (found === undefined) return undefined
    return {
      version: versionOf(found),
      dependsOn: dependenciesOf(params, found),
      resources: () => resourcesOf(shared, found),
    }
  })
  slices.onChange(changed => apis.refresh(changed))
  return apis
}

const versionOf = ({ entry, schema, published }: Publication): string =>
  JSON.stringify([schema.meta.uid, published.meta.uid, entry.storage, specOf(published).version])

const specOf = (published: Publication['published']): ClusterCachedResource['spec'] =>
  (published.object as ClusterCachedResource).spec

/** The resource, in the version of the ClusterCachedResource. */
function resourcesOf(
  shared: SharedCache,
  { entry, schema, published }: Publication,
): readonly ApiResource<SliceParams>[] {
  const { group, name: resource, storage: where } = entry
  const { version = '' } = specOf(published)
  const identity = where?.virtual?.identityHash ?? ''
  const shard = published.meta.annotations['kcp.io/shard'] ?? ''
  const { cluster } = published.key
  const source = shared.storage({ group, version, resource, identity }, shard)
  const storage = crossClusterRead({ group, resource }, () => ({ cluster, storage: source }))
  return readOnlyResourcesOf(definitionOf(schema.object), () => storage).filter(
    served => served.version === version,
  )
}
