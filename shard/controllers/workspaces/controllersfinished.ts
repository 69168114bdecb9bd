import { groupResource } from '../../../framework/meta/object.ts'
import { shardAnnotation, workspaceFinalizer } from '../../../kcp/annotations.ts'
import { type ConditionState, findCondition, isFalse } from '../../../kcp/conditions.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import type { Workspace, WorkspaceType } from '../../../kcp/tenancy.ts'
import type { Stored } from '../../bindings/content.ts'
import { bindingsInitialized } from '../exports/defaultbindings.ts'
import type { KcpControllerDeps } from '../host.ts'
import { foreignFinalizers } from '../kubernetes/finalizers.ts'
import { bindingsInitializer, isBuiltin } from './initialization.ts'

/**
 * Reports which controllers a workspace waits for, since when, and at which URL they work. kcp has no such
 * condition.
 */
export const controllersFinished = 'ControllersFinished'

/** The maximum number of names in a message. */
const named = 3

const waitingFor = (reason: string, since: string | undefined, names: string): ConditionState =>
  isFalse(controllersFinished, 'Info', reason, `waiting since ${since ?? 'an unknown time'} for ${names}`)

/** The condition for remaining initializers or terminators; undefined without any. */
export function waitingForControllers(
  deps: KcpControllerDeps,
  home: LogicalCluster,
): ConditionState | undefined {
  const { creationTimestamp, deletionTimestamp } = home.metadata
  const { phase, initializers = [], terminators = [] } = home.status ?? {}
  const views = viewsOf(deps, home)
  const at = (stage: Stage) => (identifier: string) =>
    `${identifier} at ${urlOf(deps, { stage, views }, identifier)}`
  if (deletionTimestamp !== undefined) {
    const names = terminators.map(at('terminating')).join(', ')
    return names === '' ? undefined : waitingFor('WaitingForTerminators', deletionTimestamp, names)
  }
  if (phase !== 'Initializing') return undefined
  const others = initializers.filter(identifier => !isBuiltin(identifier)).map(at('initializing'))
  const names = [...others, ...bindings(home)].join(', ')
  return names === '' ? undefined : waitingFor('WaitingForInitializers', creationTimestamp, names)
}

type Stage = 'initializing' | 'terminating'

/** Default bindings are reported only when they are blocked. */
function bindings({ status = {} }: LogicalCluster): readonly string[] {
  const told = findCondition(status.conditions, bindingsInitialized)
  const isStuck = told?.status === 'False' && status.initializers?.includes(bindingsInitializer)
  return isStuck ? [`${bindingsInitializer} (${told.message ?? ''}) at ${status.URL ?? 'no URL yet'}`] : []
}

/** The prefix of the URLs of the views that have a logical cluster: those of its shard. */
function viewsOf({ directory, shard }: KcpControllerDeps, { metadata }: LogicalCluster): string {
  const name = metadata.annotations?.[shardAnnotation] ?? shard.name
  const home = directory.shards().find(each => each.metadata.name === name)
  const url = home?.spec?.virtualWorkspaceURL ?? shard.virtualWorkspaceURL
  return `${url.replace(/\/+$/, '')}/`
}

interface Wanted {
  readonly stage: Stage
  /** The prefix of the URL. */
  readonly views: string
}

function urlOf(
  { informers, tenancy }: KcpControllerDeps,
  { stage, views }: Wanted,
  identifier: string,
): string {
  const colon = identifier.lastIndexOf(':')
  const [cluster, name] = [identifier.slice(0, colon), identifier.slice(colon + 1)]
  const type = informers.for(tenancy.workspaceTypes).get(cluster, '', name)?.object
  if (type === undefined) return 'no URL: the WorkspaceType is gone'
  const { virtualWorkspaces = [] } = (type as WorkspaceType).status ?? {}
  return (
    virtualWorkspaces.find(({ type, url }) => type === stage && url.startsWith(views))?.url ?? 'no URL yet'
  )
}

/** The condition for child workspaces of a terminating logical cluster. */
export const waitingForChildren = (home: LogicalCluster, children: readonly Stored[]): ConditionState =>
  waitingFor(
    'WaitingForChildren',
    home.metadata.deletionTimestamp,
    `the workspaces below it: ${some(children, ({ item }) => item.key.name)} at ${placeOf(home)}`,
  )

/** The condition for finalizers on objects in a terminating logical cluster. */
export const waitingForFinalizers = (home: LogicalCluster, held: readonly Stored[]): ConditionState =>
  waitingFor(
    'WaitingForFinalizers',
    home.metadata.deletionTimestamp,
    `${some(held, finalizersOf)} at ${placeOf(home)}`,
  )

/** The condition for finalizers on the Workspace itself; `at` is the URL of its parent. */
export function waitingForWorkspaceFinalizers({ metadata }: Workspace, at: string): ConditionState {
  const { name = '', deletionTimestamp, finalizers = [] } = metadata
  const others = some(
    finalizers.filter(each => each !== workspaceFinalizer),
    each => each,
  )
  return waitingFor(
    'WaitingForFinalizers',
    deletionTimestamp,
    `${others} on workspaces.tenancy.kcp.io ${name} at ${at}`,
  )
}

/** `example.com/lock on configmaps default/held` */
function finalizersOf(stored: Stored): string {
  const { group, resource } = stored.resource
  const { namespace, name } = stored.item.key
  const where = namespace === '' ? name : `${namespace}/${name}`
  return `${foreignFinalizers(stored).join(' and ')} on ${groupResource(group, resource)} ${where}`
}

const placeOf = ({ status }: LogicalCluster): string => status?.URL ?? 'no URL'

function some<T>(all: readonly T[], show: (one: T) => string): string {
  const first = all.slice(0, named).map(show).join(', ')
  return all.length <= named ? first : `${first} and ${all.length - named} more`
}
