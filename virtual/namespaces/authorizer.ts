import { allow, type Decision, deny, type RequestContext } from '../../framework/index.ts'
import { systemAuthenticated } from '../../framework/request/user.ts'
import type { Access } from '../shared/access/access.ts'

const self = 'virtual.namespaces'

/**
 * All authenticated users read over `*`, where they see their namespaces. One logical cluster needs access to it, so that
 * the response is the same for logical clusters that do not exist.
 */
export async function mayRead(
  access: Access,
  { user, cluster, signal }: Omit<RequestContext, 'actAs'>,
): Promise<Decision> {
  if (!user.groups.includes(systemAuthenticated)) return deny('access denied', self)
  if (cluster === '*') return allow('each user sees their own namespaces', self)
  await access.ready(signal)
  return (await access.allows(user, { verb: 'access', cluster, path: '/' }, signal))
    ? { ...allow('access to the logical cluster', self), cluster }
    : { ...deny('access denied', self), cluster }
}
