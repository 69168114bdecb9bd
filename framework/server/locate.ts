import { type Awaitable, attempt } from '../async/awaitable.ts'
import { forbiddenTo } from '../contract/authorizer.ts'
import type { Backend } from '../contract/backend.ts'
import type { ClusterName, ClusterScope } from '../meta/object.ts'
import { isNotFound } from '../meta/statuschecks.ts'
import type { RequestInfo } from '../request/requestinfo.ts'
import { isPrivileged, type UserInfo } from '../request/user.ts'
import { resolveCluster } from './routes.ts'

type Directory = Pick<Backend, 'authorizer' | 'resolve'>

/** The user, URL and lifetime of a request whose logical cluster is looked up. */
interface LocateRequest {
  readonly user: UserInfo
  readonly info: RequestInfo
  /** Makes its signal on first use. */
  readonly lifetime: { readonly signal: AbortSignal }
}

/**
 * The logical cluster in a URL. For an unknown one it throws 404 to users who can get workspaces in the parent, and 403
 * to others, as for workspaces without access.
 */
export const locate = (
  backend: Directory,
  written: string,
  request: LocateRequest,
): Awaitable<ClusterScope> =>
  attempt(
    () => resolveCluster(written, path => backend.resolve(path)),
    error => refuse(backend, written, request, error),
  )

async function refuse(
  backend: Directory,
  written: string,
  request: LocateRequest,
  error: unknown,
): Promise<never> {
  if (!isNotFound(error) || (await mayKnow(backend, written, request))) throw error
  throw forbiddenTo(request.user, request.info, 'access denied')
}

async function mayKnow(
  backend: Directory,
  path: string,
  { user, lifetime }: LocateRequest,
): Promise<boolean> {
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

interface MissingChild {
  /** The deepest existing workspace of the path. */
  readonly cluster: ClusterName
  readonly name: string
}

/** Looks up one segment more than exist: anybody can send paths of thousands. */
function lastKnown(backend: Directory, path: string): MissingChild | undefined {
  const names = path.split(':')
  let found: MissingChild | undefined
  for (let depth = 1; depth < names.length; depth++) {
    const cluster = backend.resolve(names.slice(0, depth).join(':'))
    if (cluster === undefined) break
    found = { cluster, name: names[depth] ?? '' }
  }
  return found
}
