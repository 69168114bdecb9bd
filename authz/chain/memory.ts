import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import {
  type Action,
  type Authorizer,
  type Decision,
  fromMemory,
  type MemoryAuthorizer,
} from '../../framework/contract/authorizer.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { systemAdmin } from '../rbac/rbac.ts'
import type { RbacSource } from '../rbac/rbacsource.ts'
import type { ClusterStates } from './gates.ts'
import { type BoundExports, referenceOf } from './maximalpolicy.ts'

/** The number of cached decisions. */
const most = 1000
/** Characters of a request whose decision is cached: the groups in one access review can have megabytes. */
const longest = 10_000

/** A decision and the stamps of everything that it depends on. */
interface CachedDecision {
  readonly user: UserInfo
  readonly action: Action
  readonly stamps: readonly Stamp[]
  readonly decision: Decision
}

type Decide = MemoryAuthorizer['decide']

/**
 * Adds a cache to an authorizer. A decision is valid for an equal request until something changes that was read for
 * it; it has no expiry. What is allowed for every object of a collection is decided once for all. `make` builds the authorizer
 * on sources that record what is read.
 */
export function cachedAuthorizer(
  sources: AuthorizationSources,
  stamps: Stamps,
  make: (noted: AuthorizationSources) => Authorizer,
): Authorizer {
  const reads = new Set<string>()
  const authorizer = make(recording(sources, reads))
  const { decide: decideOne } = authorizer
  const { decide: decideAll } = make(recording(forEveryName(sources), reads))
  // Asynchronous authorizers do not report changes, so their decisions are not cached.
  if (decideOne === undefined || decideAll === undefined) return authorizer
  const one = remembered(decideOne, reads, stamps)
  const all = remembered(decideAll, reads, stamps)
  return fromMemory((user, action) => {
    const collection = collectionOf(action)
    const decision = collection === undefined ? undefined : all(user, collection)
    return decision?.effect === 'allow' ? { ...decision, asked: { user, action } } : one(user, action)
  })
}

/** The same action on all objects of the collection; undefined for actions that are not on one object. */
const collectionOf = (action: Action): Action | undefined =>
  action.resource === undefined || action.resource.name === ''
    ? undefined
    : { ...action, resource: { ...action.resource, name: '' } }

/** Without the rules that have names. Nothing else that decides reads the name, and rules only allow. */
function forEveryName(sources: AuthorizationSources): AuthorizationSources {
  const { rbac } = sources
  const { ruleIndexes } = rbac
  const anyAllowsEveryName = ruleIndexes.anyAllowsEveryName.bind(ruleIndexes)
  const everyName = { anyAllows: anyAllowsEveryName, anyAllowsEveryName }
  return { ...sources, rbac: { ...rbac, ruleIndexes: everyName } }
}

function remembered(decide: Decide, reads: Set<string>, stamps: Stamps): Decide {
  const known = new LRUCache<string, CachedDecision>({ max: most })
  return (user, action) => {
    const key = keyOf(user, action)
    const found = known.get(key)
    if (found !== undefined && holds(found, user, action, stamps)) return found.decision
    reads.clear()
    const decision = decide(user, action)
    if (JSON.stringify([user, action, decision]).length <= longest)
      known.set(key, { user, action, decision, stamps: Array.from(reads, about => stamps.of(about)) })
    return decision
  }
}

/** The hash of a request. Entries are compared in full, because different requests may have the same hash. */
const keyOf = (user: UserInfo, { verb, cluster, resource, path }: Action): string =>
  resource === undefined
    ? `${user.name} ${verb} ${cluster} ${path}`
    : `${user.name} ${verb} ${cluster} ${resource.resource}/${resource.namespace}/${resource.name}`

const holds = (found: CachedDecision, user: UserInfo, action: Action, stamps: Stamps): boolean =>
  isSameUser(found.user, user) &&
  isSameAction(found.action, action) &&
  found.stamps.every(stamp => stamps.isCurrent(stamp))

const isSameUser = (a: UserInfo, b: UserInfo): boolean =>
  a === b ||
  (a.name === b.name && a.uid === b.uid && areSame(a.groups, b.groups) && isSameExtra(a.extra, b.extra))

function isSameExtra(a: UserInfo['extra'] = {}, b: UserInfo['extra'] = {}): boolean {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every(key => areSame(a[key], b[key]))
}

const areSame = (a: readonly string[] | undefined, b: readonly string[] | undefined): boolean =>
  a === b ||
  (a !== undefined && b !== undefined && a.length === b.length && a.every((text, i) => text === b[i]))

function isSameAction(a: Action, b: Action): boolean {
  if (a === b) return true
  return (
    a.verb === b.verb &&
    a.cluster === b.cluster &&
    a.path === b.path &&
    a.deep === b.deep &&
    isSameResource(a.resource, b.resource) &&
    isSameSelector(a.fieldSelector, b.fieldSelector) &&
    isSameSelector(a.labelSelector, b.labelSelector)
  )
}

const isSameSelector = (a: object | undefined, b: object | undefined): boolean =>
  a === b || isDeepStrictEqual(a, b)

function isSameResource(a: Action['resource'], b: Action['resource']): boolean {
  if (a === undefined || b === undefined) return a === b
  return (
    a.group === b.group &&
    a.version === b.version &&
    a.resource === b.resource &&
    a.subresource === b.subresource &&
    a.namespace === b.namespace &&
    a.name === b.name
  )
}

/** The same sources, recording what is read. */
function recording(
  { rbac, clusters, exports }: AuthorizationSources,
  reads: Set<string>,
): AuthorizationSources {
  const note = <T extends readonly string[], R>(read: (cluster: string, ...more: T) => R) => {
    return (cluster: string, ...more: T): R => {
      reads.add(cluster)
      return read(cluster, ...more)
    }
  }
  /** Bindings read the roles of their cluster, and those of `system:admin`. */
  const bindings = <T extends readonly string[], R>(read: (cluster: string, ...more: T) => R) => {
    const noted = note(read)
    return (cluster: string, ...more: T): R => {
      reads.add(systemAdmin)
      return noted(cluster, ...more)
    }
  }
  return {
    rbac: {
      ruleIndexes: rbac.ruleIndexes,
      clusterRole: note(rbac.clusterRole),
      role: note(rbac.role),
      clusterRoleBindings: bindings(rbac.clusterRoleBindings),
      roleBindings: bindings(rbac.roleBindings),
    },
    clusters: { phase: note(clusters.phase), requiredGroups: note(clusters.requiredGroups) },
    exports: {
      of: note((cluster, group: string, resource: string) => {
        const found = exports.of(cluster, group, resource)
        for (const each of found) reads.add(referenceOf(each))
        return found
      }),
    },
  }
}

/**
 * Counts the changes of the sources by logical cluster and by reference to an export. Different keys may share a
 * counter: then more decisions are recomputed than needed.
 */
export interface Stamps {
  changed(about: string): void
  /** Equal to an earlier stamp only if nothing has changed since. */
  of(about: string): Stamp
  isCurrent(stamp: Stamp): boolean
}

export interface Stamp {
  readonly slot: number
  readonly count: number
}

const slots = 4096

export function createStamps(): Stamps {
  const counts = new Float64Array(slots)
  const countAt = (slot: number): number => counts[slot] ?? 0
  return {
    changed(about) {
      const slot = slotOf(about)
      counts[slot] = countAt(slot) + 1
    },
    of(about) {
      const slot = slotOf(about)
      return { slot, count: countAt(slot) }
    },
    isCurrent: ({ slot, count }) => countAt(slot) === count,
  }
}

/** FNV-1a. */
function slotOf(about: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < about.length; i++) hash = Math.imul(hash ^ about.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % slots
}

/** The sources of the chain, all in memory. */
export interface AuthorizationSources {
  readonly rbac: RbacSource
  readonly clusters: ClusterStates
  readonly exports: BoundExports
}
