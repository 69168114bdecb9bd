import type { ConditionState } from './conditions.ts'
import { isFalse } from './conditions.ts'
import type { KcpControllerDeps } from './deps.ts'
import { isBuiltin } from './initialization.ts'
import type { LogicalCluster, WorkspaceType } from './objects.ts'

/** The condition that tells a person why a workspace does not get on; kcp has none like it. */
export const finished = 'ControllersFinished'

interface Waiting {
  readonly stage: 'initializing' | 'terminating'
  readonly reason: string
  readonly since: string
  readonly identifiers: readonly string[]
}

function waitingOf({ metadata, status = {} }: LogicalCluster): Waiting | undefined {
  const { creationTimestamp = '', deletionTimestamp } = metadata
  const { phase, initializers = [], terminators = [] } = status
  if (deletionTimestamp !== undefined)
    return {
      stage: 'terminating',
      reason: 'WaitingForTerminators',
      since: deletionTimestamp,
      identifiers: terminators,
    }
  if (phase !== 'Initializing') return undefined
  const identifiers = initializers.filter(identifier => !isBuiltin(identifier))
  return { stage: 'initializing', reason: 'WaitingForInitializers', since: creationTimestamp, identifiers }
}

/** Who has to finish before the cluster gets on, since when, and through which URL; undefined when nobody. */
export function awaited(deps: KcpControllerDeps, home: LogicalCluster): ConditionState | undefined {
  const waiting = waitingOf(home)
  if (waiting === undefined || waiting.identifiers.length === 0) return undefined
  const { stage, reason, since, identifiers } = waiting
  const list = identifiers.map(identifier => `${identifier} at ${urlOf(deps, stage, identifier)}`).join(', ')
  return isFalse(finished, 'Info', reason, `waiting since ${since} for ${list}`)
}

function urlOf(
  { informers, tenancy }: KcpControllerDeps,
  stage: Waiting['stage'],
  identifier: string,
): string {
  const colon = identifier.lastIndexOf(':')
  const [cluster, name] = [identifier.slice(0, colon), identifier.slice(colon + 1)]
  const type = informers.for(tenancy.workspaceTypes).get(cluster, '', name)?.object
  if (type === undefined) return 'no URL: the WorkspaceType is gone'
  const { virtualWorkspaces = [] } = (type as WorkspaceType).status ?? {}
  return virtualWorkspaces.find(entry => entry.type === stage)?.url ?? 'no URL yet'
}
