import type { AdmissionAttributes } from '../../../framework/contract/admission.ts'
import type { Authorizer } from '../../../framework/contract/authorizer.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import type { ClusterName } from '../../../framework/meta/object.ts'
import type { PathReference } from '../../../kcp/references.ts'
import type { Directory } from '../../tenancy/directory.ts'
import { mayBind } from './permission.ts'
import { refused } from './refusal.ts'

/** What admission needs to check references to exports. */
export interface ExportRules {
  readonly directory: Directory
  readonly authorizer: Authorizer
}

/**
 * The cluster of the export that a binding or slice refers to, if there is such an export. In `root` and in the cluster
 * of the reference itself it need not exist yet: users who hold the permission are told by a condition instead (chapter 20, section 5.5).
 */
export function exportCluster(
  directory: Directory,
  reference: PathReference,
  from: ClusterName,
): ClusterName | undefined {
  const cluster = directory.clusterOf(reference, from)
  if (cluster === undefined || !reference.path || reference.path === 'root') return cluster
  return directory.apiExport(cluster, reference.name) === undefined ? undefined : cluster
}

/** Refuses without `bind`, in the same words whether the export is missing or the permission. */
export async function checkBind(
  { directory, authorizer }: ExportRules,
  ctx: RequestContext,
  request: AdmissionAttributes,
  reference: PathReference,
): Promise<void> {
  const cluster = exportCluster(directory, reference, request.key.cluster)
  if (cluster !== undefined && (await mayBind(authorizer, ctx, cluster, reference.name))) return
  throw noPermission(request, reference)
}

export function noPermission(request: AdmissionAttributes, { path, name }: PathReference): Error {
  const { kind } = request.object ?? { kind: '' }
  const verb = request.operation === 'CREATE' ? 'create' : 'update'
  return refused(
    request,
    `unable to ${verb} ${kind}: no permission to bind to export ${path ? `${path}:${name}` : name}`,
  )
}
