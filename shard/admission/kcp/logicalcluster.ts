import { isDeepStrictEqual } from 'node:util'
import type { AdmissionAttributes } from '../../../framework/contract/admission.ts'
import { originAnnotation } from '../../../framework/contract/item.ts'
import { isPrivileged, type UserInfo } from '../../../framework/request/user.ts'
import {
  admittedTypesAnnotation,
  dumpAnnotation,
  inactiveAnnotation,
  incomingAnnotation,
  leavingAnnotation,
  logicalClusterFinalizer,
  maxObjectsAnnotation,
  migratingAnnotation,
  movedAnnotation,
  ownerAnnotation,
  pathAnnotation,
  resourceBindingsAnnotation,
  shardAnnotation,
  typeAnnotation,
} from '../../../kcp/annotations.ts'
import type { LogicalCluster, LogicalClusterPhase } from '../../../kcp/core.ts'
import { isSystem, kcpAdmin } from '../../../kcp/users.ts'
import { type Holder, holderOf } from '../../bindings/holders.ts'
import { withMetadata } from '../../registry/strategy.ts'
import type { ClusterDirectory } from '../../tenancy/directory.ts'
import type { RegistryPlugin } from '../chain.ts'
import { refused } from '../refusal.ts'
import { mirrorLogicalCluster, withLocks, withSystemAnnotations } from './metadata.ts'

const logicalClusters = 'logicalclusters.core.kcp.io'

/** Annotations that only the server writes. */
const systemAnnotations: readonly string[] = [
  admittedTypesAnnotation,
  pathAnnotation,
  typeAnnotation,
  ownerAnnotation,
  shardAnnotation,
  originAnnotation,
  resourceBindingsAnnotation,
  migratingAnnotation,
  incomingAnnotation,
  leavingAnnotation,
  movedAnnotation,
  dumpAnnotation,
]

/** Phases in the order of the lifecycle. Only the server sets those after Ready. */
const phases: readonly LogicalClusterPhase[] = [
  'Scheduling',
  'Initializing',
  'Ready',
  'Inactive',
  'Terminating',
  'Deleting',
]

/** Checks which user changes a LogicalCluster, and adds its finalizer (kcp `pkg/admission/logicalcluster`). */
export const logicalClusterAdmission = ({
  bindingsIn,
}: Pick<ClusterDirectory, 'bindingsIn'>): RegistryPlugin => ({
  name: 'core.kcp.io/LogicalCluster',
  handles: { resources: [logicalClusters] },
  mutate(ctx, request) {
    const { object, old, subresource } = request
    if (`${request.resource}.${request.group}` !== logicalClusters) return object
    if (subresource === 'status') return startInitializing(object as LogicalCluster, old as LogicalCluster)
    const next = withFinalizer(object as LogicalCluster)
    return isSystem(ctx.actAs) ? next : withSystemAnnotations(next, old, systemAnnotations)
  },
  complete({ group, resource, key, object, old }) {
    if (`${resource}.${group}` !== logicalClusters) return object
    const next = old === undefined ? initialize(object) : (object as LogicalCluster)
    return derived(next, bindingsIn(key.cluster).map(holderOf))
  },
  validate(ctx, request) {
    if (`${request.resource}.${request.group}` !== logicalClusters) return
    const problem = finalizerProblem(ctx.actAs, request) ?? writerProblem(ctx.actAs, request)
    if (problem !== undefined) throw refused(request, problem)
  },
})

/** The LogicalCluster with what follows from its status and from the bindings. */
export const derived = (object: LogicalCluster, bindings: readonly Holder[]): LogicalCluster =>
  withLocks(mirrorLogicalCluster(object), bindings)

function withFinalizer(object: LogicalCluster): LogicalCluster {
  const { finalizers = [], deletionTimestamp } = object.metadata
  if (deletionTimestamp !== undefined || finalizers.includes(logicalClusterFinalizer)) return object
  return withMetadata(object, { finalizers: [...finalizers, logicalClusterFinalizer] })
}

/** A new LogicalCluster at the beginning of its initialization. */
export const begun = (object: LogicalCluster): LogicalCluster => initialize(withFinalizer(object))

/** Copies the initializers and terminators of the spec to the status. */
function initialize(object: LogicalCluster): LogicalCluster {
  const { initializers = [], terminators = [] } = object.spec ?? {}
  return { ...object, status: { ...object.status, phase: 'Initializing', initializers, terminators } }
}

/** Starts the initialization; for a new LogicalCluster at its creation. */
const startInitializing = (object: LogicalCluster, old: LogicalCluster): LogicalCluster =>
  object.status?.phase === 'Initializing' && old.status?.phase !== 'Initializing'
    ? initialize(object)
    : object

/** Only the system removes the finalizer, from a logical cluster that is being deleted (kcp `pkg/admission/finalizer`). */
function finalizerProblem(
  user: UserInfo,
  { operation, object, old }: AdmissionAttributes,
): string | undefined {
  if (operation === 'DELETE' || isPrivileged(user)) return undefined
  const has = (o: typeof object): boolean =>
    o?.metadata.finalizers?.includes(logicalClusterFinalizer) ?? false
  if (has(object)) return undefined
  if (object?.metadata.deletionTimestamp === undefined)
    return `finalizer ${logicalClusterFinalizer} is required`
  return has(old) ? `removing the finalizer ${logicalClusterFinalizer} is forbidden` : undefined
}

function writerProblem(user: UserInfo, request: AdmissionAttributes): string | undefined {
  if (isSystem(user)) return undefined
  if (request.operation === 'CREATE') return 'LogicalCluster cannot be created'
  const old = request.old as LogicalCluster
  if (request.operation === 'DELETE')
    return old.spec?.directlyDeletable === true ? undefined : 'LogicalCluster cannot be deleted'
  const next = request.object as LogicalCluster
  const isAdministrator = user.groups.includes(kcpAdmin)
  return (isAdministrator ? undefined : reservedProblem(next, old)) ?? updateProblem(next, old)
}

const isSameSet = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  isDeepStrictEqual([...new Set(a)].sort(), [...new Set(b)].sort())

/**
 * What only administrators change, unlike in kcp: the Workspace of `spec.owner` is changed when the logical cluster moves or is
 * deleted, and it may be that of another tenant. kcp documents the protection of the annotation, but its plugin for that is off.
 */
function reservedProblem(next: LogicalCluster, old: LogicalCluster): string | undefined {
  if (maxObjectsOf(next) !== maxObjectsOf(old))
    return `modification of reserved annotation: "${maxObjectsAnnotation}"`
  return immutableProblem('owner', next, old) ?? terminatorProblem(next, old)
}

function updateProblem(next: LogicalCluster, old: LogicalCluster): string | undefined {
  if (!isSameSet(next.spec?.initializers, old.spec?.initializers)) return 'spec.initializers is immutable'
  return (
    immutableProblem('createdBy', next, old) ?? initializerProblem(next, old) ?? transitionProblem(next, old)
  )
}

const immutableProblem = (
  field: 'createdBy' | 'owner',
  next: LogicalCluster,
  old: LogicalCluster,
): string | undefined =>
  isDeepStrictEqual(next.spec?.[field], old.spec?.[field])
    ? undefined
    : `spec.${field}: Invalid value: ${JSON.stringify(next.spec?.[field] ?? null)}: field is immutable`

const maxObjectsOf = ({ metadata }: LogicalCluster): string | undefined =>
  metadata.annotations?.[maxObjectsAnnotation]

/** Unlike in kcp: a logical cluster with a terminator of others would be in their view. */
function terminatorProblem(next: LogicalCluster, old: LogicalCluster): string | undefined {
  if (!isSameSet(next.spec?.terminators, old.spec?.terminators)) return 'spec.terminators is immutable'
  const before = old.status?.terminators ?? []
  const grows = next.status?.terminators?.some(terminator => !before.includes(terminator))
  return grows ? 'status.terminators must not grow' : undefined
}

function initializerProblem(next: LogicalCluster, old: LogicalCluster): string | undefined {
  const [from, to] = [old.status?.phase ?? 'Scheduling', next.status?.phase ?? 'Scheduling']
  const [before, after] = [old.status?.initializers ?? [], next.status?.initializers ?? []]
  if (to === 'Initializing' && from !== 'Initializing')
    return isSameSet(after, next.spec?.initializers)
      ? undefined
      : 'status.initializers do not equal spec.initializers'
  if (to === 'Initializing' && after.some(initializer => !before.includes(initializer)))
    return 'status.initializers must not grow'
  if (to === 'Initializing') return undefined
  if (from === 'Initializing') return after.length > 0 ? 'status.initializers is not empty' : undefined
  return isSameSet(before, after) ? undefined : 'status.initializers is immutable after initialization'
}

function transitionProblem(next: LogicalCluster, old: LogicalCluster): string | undefined {
  const [from, to] = [old.status?.phase ?? 'Scheduling', next.status?.phase ?? 'Scheduling']
  const backward = phases.indexOf(to) < phases.indexOf(from) && !(from === 'Inactive' && to === 'Ready')
  const reserved = to !== from && phases.indexOf(to) > phases.indexOf('Ready')
  if (backward || reserved) return `cannot transition from "${from}" to "${to}"`
  const marked = (o: LogicalCluster): boolean => o.metadata.annotations?.[inactiveAnnotation] === 'true'
  return marked(next) && !marked(old) && to !== 'Ready'
    ? `LogicalCluster can only be marked inactive in phase "Ready", but is in phase "${to}"`
    : undefined
}
