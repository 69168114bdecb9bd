import { type Authorizer, allow, fromMemory, noOpinion } from '../../framework/contract/authorizer.ts'
import { isPrivileged, systemMasters } from '../../framework/request/user.ts'
import { pathMatches } from '../rbac/policyrule.ts'

/** Members of `system:masters` may do everything, everywhere. */
export const privilegedGroup: Authorizer = fromMemory(user =>
  isPrivileged(user) ? allow(`member of ${systemMasters}`, 'privileged group') : isNotPrivileged,
)

const isNotPrivileged = noOpinion('', 'privileged group')

/** Paths that everybody may read, whoever they are; a trailing `*` is a prefix. */
export const alwaysAllowPaths = (paths: readonly string[]): Authorizer =>
  fromMemory((_user, { path, resource, verb }) => {
    const open =
      resource === undefined && reads.has(verb) && paths.some(allowed => pathMatches(allowed, path ?? ''))
    return open ? allow('always allowed path', 'open paths') : isNotOpen
  })

const isNotOpen = noOpinion('', 'open paths')

const reads = new Set(['get', 'head'])
