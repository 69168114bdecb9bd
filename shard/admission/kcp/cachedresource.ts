import type { AdmissionPlugin } from '../../../framework/contract/admission.ts'
import type { ApiSet } from '../../../framework/contract/apis.ts'
import { type ClusterName, groupResource } from '../../../framework/meta/object.ts'
import { cacheGroup } from '../../../kcp/apigroups.ts'
import type { ClusterCachedResource } from '../../../kcp/cache.ts'
import { customSegment } from '../../apis/served.ts'
import type { WatchCache } from '../../cache/watchcache.ts'
import { concerns, refused } from './refusal.ts'

export interface CachedResourceRules {
  readonly cache: WatchCache
  apis(cluster: ClusterName): ApiSet | undefined
}

/** What is published is in no namespace, and is published once (chapter 20, section 2.13). */
export const cachedResourceAdmission = ({ cache, apis }: CachedResourceRules): AdmissionPlugin => ({
  name: 'apis.kcp.io/ClusterCachedResource',
  handles: { resources: ['clustercachedresources.cache.kcp.io'] },
  validate(_ctx, request) {
    if (!concerns(request, 'clustercachedresources.cache.kcp.io', ['CREATE'])) return
    const { metadata, spec } = request.object as ClusterCachedResource
    const { group = '', version = '', resource } = spec
    const { cluster } = request.key
    const invalid = (value: string, text: string): Error =>
      refused(request, `spec: Invalid value: ${JSON.stringify(value)}: ${text}`)
    if (apis(cluster)?.find(group, version, resource)?.namespaced)
      throw invalid(
        groupResource(group, resource),
        'Resource referenced in ClusterCachedResource must be cluster-scoped',
      )
    const known = cache.resource(cacheGroup, 'clustercachedresources', customSegment).items(cluster)
    for (const { name, object } of known) {
      const other = (object as ClusterCachedResource).spec
      const isSame =
        (other.group ?? '') === group && (other.version ?? '') === version && other.resource === resource
      // Of one name: that it is there already says the store.
      if (isSame && name !== metadata.name)
        throw invalid(
          `${group}.${version}.${resource}`,
          `ClusterCachedResource with this GVR already exists in the "${cluster}" workspace`,
        )
    }
  },
})
