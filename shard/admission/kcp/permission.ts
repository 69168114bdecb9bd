import type { Authorizer } from '../../../framework/contract/authorizer.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import type { ClusterName } from '../../../framework/meta/object.ts'
import { apisGroup } from '../../../kcp/apigroups.ts'

/** A verb that kcp gives a meaning on an object in another workspace (chapter 20, section 5.8). */
export interface SpecialAction {
  readonly verb: 'bind' | 'use'
  readonly cluster: ClusterName
  readonly group: string
  readonly resource: string
  readonly name: string
}

/**
 * Whether the requester may do that, in the cluster of the object. Only RBAC is asked, as kcp does: who may use what a
 * workspace offers need not be let into it.
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
