import { forbiddenTo } from '../contract/authorizer.ts'
import type { Backend } from '../contract/backend.ts'
import { StatusError } from '../meta/errors.ts'
import type { ClusterName, ClusterScope } from '../meta/object.ts'
import type { RequestInfo } from '../request/requestinfo.ts'
import { isPrivileged, type UserInfo } from '../request/user.ts'
import { clusterOf } from './routes.ts'

type Directory = Pick<Backend, 'authorizer' | 'resolve'>

/** Who asks what, for as long as they wait for it. */
export interface Asker {
  readonly user: UserInfo
  readonly info: RequestInfo
  /** Its signal is made when somebody asks for it. */
  readonly lifetime: { readonly signal: AbortSignal }
}

/**
 * The logical cluster that a URL names. Where there is none, those who may see that in the workspace above read 404.
 * For everybody else it is like a workspace that is not for them: 403.
 */
export async function locate(backend: Directory, written: string, asker: Asker): Promise<ClusterScope> {
  try {
    return clusterOf(written, path => backend.resolve(path))
  } catch (error) {
    const isMissing = error instanceof StatusError && error.code === 404
    if (!isMissing || (await mayKnow(backend, written, asker))) throw error
    throw forbiddenTo(asker.user, asker.info, 'access denied')
  }
}

async function mayKnow(backend: Directory, path: string, { user, lifetime }: Asker): Promise<boolean> {
  if (isPrivileged(user)) return true
  const above = lastKnown(backend, path)
  if (above === undefined) return false
  const { cluster, name } = above
  const workspace = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' }
  const resource = { ...workspace, subresource: '', namespace: '', name }
  const decision = await backend.authorizer.authorize(
    user,
    { verb: 'get', cluster, resource },
    lifetime.signal,
  )
  return decision.effect === 'allow'
}

/** The deepest workspace of a path that exists, and the name that is not in it. */
function lastKnown(
  backend: Directory,
  path: string,
): { readonly cluster: ClusterName; readonly name: string } | undefined {
  const names = path.split(':')
  for (let depth = names.length - 1; depth > 0; depth--) {
    const cluster = backend.resolve(names.slice(0, depth).join(':'))
    if (cluster !== undefined) return { cluster, name: names[depth] ?? '' }
  }
  return undefined
}
