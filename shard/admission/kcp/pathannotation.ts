import type { AdmissionPlugin } from '../../../framework/contract/admission.ts'
import { pathAnnotation } from '../../../kcp/annotations.ts'
import { withMetadata } from '../../registry/strategy.ts'
import type { Directory } from '../../tenancy/directory.ts'

/** Kinds that others refer to by path and name: they always carry the path (chapter 20, section 1.8). */
const always: ReadonlySet<string> = new Set([
  'apiexports.apis.kcp.io',
  'apibindings.apis.kcp.io',
  'workspacetypes.tenancy.kcp.io',
  'clustercachedresources.cache.kcp.io',
])
const exempt = 'logicalclusters.core.kcp.io'

/** Keeps `kcp.io/path` at the canonical path of the workspace, whatever a client sends. */
export const pathAnnotationAdmission = (directory: Directory): AdmissionPlugin => ({
  name: 'kcp.io/PathAnnotation',
  mutate(_ctx, { object, resource, group, subresource, key }) {
    const kind = `${resource}.${group}`
    if (subresource !== '' || kind === exempt) return object
    const sent = object.metadata.annotations?.[pathAnnotation]
    if (sent === undefined && !always.has(kind)) return object
    const path = directory.path(key.cluster)
    if (sent === path) return object
    return withMetadata(object, { annotations: { ...object.metadata.annotations, [pathAnnotation]: path } })
  },
})
