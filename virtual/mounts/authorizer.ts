import { actionOf } from '../../framework/contract/authorizer.ts'
import type { Decision, Host, RequestContext } from '../../framework/index.ts'

/**
 * Reading mount objects is reading them in their workspace; using one requires the verb `proxy` on it for any request. The
 * reason of a denial says so, because the rest of its message has verb and subresource of the request.
 */
export async function mayUse(
  { backend }: Host,
  { user, info, cluster, signal }: RequestContext,
): Promise<Decision> {
  const isUse = info.isResource && info.subresource === 'proxy'
  const action = isUse ? { ...info, verb: 'proxy', subresource: '' } : info
  const decision = await backend.authorizer.authorize(user, actionOf(action, cluster), signal)
  if (!isUse || decision.effect === 'allow') return decision
  return { ...decision, reason: `this requires the verb "proxy" on the resource "${info.resource}"` }
}
