import type { ResourceRef, UrlPublisher } from '../../framework/index.ts'
import { timestamp } from '../../framework/meta/object.ts'
import { logicalClusterOf, resourcePath } from '../../kcp/index.ts'
import type { KubeCluster, MountCondition, MountPhase } from './types.ts'

/** The result of probing a cluster. */
export interface Health {
  readonly phase: MountPhase
  /** Why its kubeconfig cannot be used. */
  readonly secretProblem?: string
  /** Why it does not answer. */
  readonly clusterProblem?: string
}

/** Milliseconds after which an unchanged success is written again. */
const heartbeat = 60_000

type Status = NonNullable<KubeCluster['status']>

/** The status after a probe; the same object when nothing changed. */
export function statusOf(current: Status, health: Health, now: Date): Status {
  const { secretProblem, clusterProblem } = health
  const conditions = [
    conditionOf(
      current,
      'ClusterReady',
      { problem: clusterProblem ?? secretProblem, reason: 'ClusterUnreachable' },
      now,
    ),
    conditionOf(current, 'ClusterSecretReady', { problem: secretProblem, reason: 'SecretUnusable' }, now),
  ]
  const others = (current.conditions ?? []).filter(({ type }) => conditions.every(c => c.type !== type))
  const isSame =
    current.phase === health.phase &&
    conditions.every(c => current.conditions?.includes(c)) &&
    !isDue(current, health, now)
  if (isSame) return current
  return {
    ...current,
    phase: health.phase,
    ...(health.phase === 'Ready' && { lastProxyHeartbeatTime: timestamp(now) }),
    conditions: [...conditions, ...others].sort((a, b) => (a.type < b.type ? -1 : 1)),
  }
}

const isDue = ({ lastProxyHeartbeatTime }: Status, { phase }: Health, now: Date): boolean =>
  phase === 'Ready' && now.getTime() - Date.parse(lastProxyHeartbeatTime ?? '1970-01-01') >= heartbeat

interface State {
  readonly problem: string | undefined
  readonly reason: string
}

function conditionFrom(type: string, { problem, reason }: State): Omit<MountCondition, 'lastTransitionTime'> {
  if (problem === undefined) return { type, status: 'True' }
  return { type, status: 'False', severity: 'Error', reason, message: problem }
}

function conditionOf({ conditions }: Status, type: string, state: State, now: Date): MountCondition {
  const next = conditionFrom(type, state)
  const known = conditions?.find(condition => condition.type === type)
  if (known?.status === next.status && (known.message ?? '') === (next.message ?? '')) return known
  return { ...next, lastTransitionTime: timestamp(now) }
}

/** Where each cluster is reached, in its own status: mounts refer to it there. */
export const urlPublisher = (objects: ResourceRef): UrlPublisher => ({
  objects,
  dependsOn: [],
  // `oriel virtual-workspaces` does not serve this view.
  isOnlyHere: true,
  views: () => [{}],
  publish(object, [base = '']) {
    const { metadata, status } = object as KubeCluster
    const URL = `${base}${resourcePath(logicalClusterOf(object), objects, metadata.name)}/proxy`
    return status?.URL === URL ? object : { ...object, status: { ...status, URL } }
  },
})
