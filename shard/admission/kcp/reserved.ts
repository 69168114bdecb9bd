import type { AdmissionPlugin } from '../../../framework/contract/admission.ts'
import { pathAnnotation } from '../../../kcp/annotations.ts'
import { apisGroup, systemGroups } from '../../../kcp/apigroups.ts'
import { boundCRDsCluster } from '../../../kcp/logicalclusters.ts'
import { withMetadata } from '../../registry/strategy.ts'
import type { ClusterDirectory } from '../../tenancy/directory.ts'
import { concerns, refused } from '../refusal.ts'

const crds = 'customresourcedefinitions.apiextensions.k8s.io'

/**
 * Rejects CustomResourceDefinitions in kcp's group and with its annotations (kcp
 * `pkg/admission/reservedcrd{groups,annotations}`), except for copies of bound schemas; and those in the other groups that every
 * logical cluster serves. kcp accepts these: the deletion of the definition deletes kcp's objects, such as the LogicalCluster.
 */
export const reservedDefinitions: AdmissionPlugin = {
  name: 'kcp.io/ReservedCRDGroups',
  handles: { resources: [crds] },
  validate(_ctx, request) {
    if (!concerns(request, crds, ['CREATE', 'UPDATE']) || request.key.cluster === boundCRDsCluster) return
    const group = (request.object?.spec as { group?: string } | undefined)?.group ?? ''
    if (systemGroups.includes(group) || group.endsWith(`.${apisGroup}`))
      throw refused(request, `${group} is a reserved group`)
    const key = Object.keys(request.object?.metadata.annotations ?? {}).find(isReserved)
    if (key !== undefined) throw refused(request, `${key} is a reserved annotation`)
  },
}

function isReserved(key: string): boolean {
  const [domain = '', name] = key.split('/')
  return name !== undefined && (domain === apisGroup || domain.endsWith(`.${apisGroup}`))
}

/**
 * Kinds that are referred to by path and name: they always have the annotation (kcp
 * `pkg/admission/pathannotation`).
 */
const always: ReadonlySet<string> = new Set([
  'apiexports.apis.kcp.io',
  'apibindings.apis.kcp.io',
  'workspacetypes.tenancy.kcp.io',
  'clustercachedresources.cache.kcp.io',
])
const exempt = 'logicalclusters.core.kcp.io'

/** Sets `kcp.io/path` to the canonical path of the workspace. */
export const pathAnnotationAdmission = (directory: ClusterDirectory): AdmissionPlugin => ({
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
