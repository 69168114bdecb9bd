import type { AdmissionAttributes } from '../../../framework/contract/admission.ts'
import type { Authorizer } from '../../../framework/contract/authorizer.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import type { ClusterName } from '../../../framework/meta/object.ts'
import { apisGroup } from '../../../kcp/apigroups.ts'

import type { PathReference } from '../../../kcp/references.ts'
import type { ClusterDirectory } from '../../tenancy/directory.ts'
import { refused } from '../refusal.ts'

/** A verb on an object in another workspace: `bind` or `use`. */
interface SpecialAction {
  readonly verb: 'bind' | 'use'
  readonly cluster: ClusterName
  readonly group: string
  readonly resource: string
  readonly name: string
}

/**
 * Whether the user has the verb in the logical cluster of the object. As in kcp only RBAC decides: access to that
 * workspace is not needed.
 */
export async function isAllowed(
  authorizer: Authorizer,
  ctx: RequestContext,
  { verb, cluster, group, resource, name }: SpecialAction,
): Promise<boolean> {
  const target = { group, version: 'v1alpha1', resource, subresource: '', namespace: '', name }
  const action = { verb, cluster, resource: target, deep: true }
  const decision = await authorizer.authorize(ctx.actAs, action, ctx.signal)
  return decision.effect === 'allow'
}

/** `bind` on an export. */
export const mayBind = (
  authorizer: Authorizer,
  ctx: RequestContext,
  cluster: ClusterName,
  name: string,
): Promise<boolean> =>
  isAllowed(authorizer, ctx, { verb: 'bind', cluster, group: apisGroup, resource: 'apiexports', name })

/** The dependencies of checks of export references. */
export interface ExportRules {
  readonly directory: ClusterDirectory
  readonly authorizer: Authorizer
}

/**
 * The logical cluster of the export that a binding or slice refers to. In `root` and in the own logical cluster the
 * export need not exist yet: a condition reports that.
 */
export function exportCluster(
  directory: ClusterDirectory,
  reference: PathReference,
  from: ClusterName,
): ClusterName | undefined {
  const cluster = directory.referencedCluster(reference, from)
  if (cluster === undefined || !reference.path || reference.path === 'root') return cluster
  return directory.apiExport(cluster, reference.name) === undefined ? undefined : cluster
}

/** Throws 403 without `bind`, with the same message whether the export or the permission is missing. */
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
