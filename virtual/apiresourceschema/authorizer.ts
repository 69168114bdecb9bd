import { clusterDecision } from '../../framework/contract/authorizer.ts'
import { type Decision, deny, type Host, type RequestContext, viewDecision } from '../../framework/index.ts'
import { resources } from '../../kcp/index.ts'

const authorizer = 'virtual.apiresourceschema'

/**
 * Requires `get` on `apibindings` in the logical cluster of the consumer (kcp
 * `pkg/virtual/apiresourceschema/authorizer`).
 */
export async function mayRead(host: Host, ctx: RequestContext): Promise<Decision> {
  const decision = viewDecision(authorizer, [await answerTo(host, ctx)])
  return { ...decision, reason: 'access denied' }
}

async function answerTo({ backend }: Host, ctx: RequestContext): Promise<Decision> {
  const { cluster, info, user, signal } = ctx
  if (!['get', 'list', 'watch'].includes(info.verb))
    return deny('write access to the schemas that a workspace has bound is not allowed', authorizer)
  const resource = { ...resources.apiBindings, subresource: '', namespace: '', name: '' }
  const decision = await backend.authorizer.authorize(user, { verb: 'get', cluster, resource }, signal)
  return clusterDecision(cluster, authorizer, decision)
}
