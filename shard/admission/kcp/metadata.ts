import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../../framework/meta/object.ts'
import {
  ownerAnnotation,
  resourceBindingsAnnotation,
  terminatorsFinalizer,
} from '../../../kcp/annotations.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import { initializerLabel, phaseLabel, terminatorLabel } from '../../../kcp/labels.ts'
import { readOwner } from '../../../kcp/owner.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import type { Holder } from '../../bindings/holders.ts'
import { withMetadata } from '../../registry/strategy.ts'

/**
 * Adds the labels and the finalizer of a LogicalCluster that follow from its status; views select by the labels.
 * Written together with the status, so that they never differ.
 */
export function mirrorLogicalCluster(object: LogicalCluster): LogicalCluster {
  const { phase = '', initializers = [], terminators = [] } = object.status ?? {}
  const own = Object.entries(object.metadata.labels ?? {}).filter(([key]) => !isLifecycle(key))
  const waiting = [...initializers.map(initializerLabel), ...terminators.map(terminatorLabel)]
  const labels = { ...Object.fromEntries(own), ...Object.fromEntries(waiting.map(l => [l.key, l.value])) }
  const labelled = withLabels(object, phase === '' ? labels : { ...labels, [phaseLabel]: phase })
  return reduceOwner(withTerminatorsFinalizer(labelled, terminators.length > 0), phase)
}

const isLifecycle = (key: string): boolean => /^(initializer|terminator)\.internal\.kcp\.io\//.test(key)

function withTerminatorsFinalizer<T extends KubeObject>(object: T, wanted: boolean): T {
  const finalizers = object.metadata.finalizers ?? []
  if (finalizers.includes(terminatorsFinalizer) === wanted) return object
  const others = finalizers.filter(each => each !== terminatorsFinalizer)
  return withMetadata(object, { finalizers: wanted ? [...others, terminatorsFinalizer] : others }) as T
}

/** Sets the annotation with the owner of each bound resource, from the bindings of the logical cluster. */
export function withLocks(object: LogicalCluster, bindings: readonly Holder[]): LogicalCluster {
  if (object.status?.phase === 'Initializing') return object
  const held = bindings
    .flatMap(({ name, resources }) => resources.map(resource => [resource, { n: name }] as const))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const annotation = JSON.stringify(Object.fromEntries(held))
  if (object.metadata.annotations?.[resourceBindingsAnnotation] === annotation) return object
  const annotations = { ...object.metadata.annotations, [resourceBindingsAnnotation]: annotation }
  return withMetadata(object, { annotations }) as LogicalCluster
}

/** Adds the phase of a Workspace as a label. */
export function mirrorWorkspace(object: Workspace): Workspace {
  const phase = object.status?.phase ?? 'Scheduling'
  return reduceOwner(withLabels(object, { ...object.metadata.labels, [phaseLabel]: phase }), phase)
}

const withLabels = <T extends KubeObject>(object: T, labels: Readonly<Record<string, string>>): T =>
  isDeepStrictEqual(labels, object.metadata.labels ?? {}) ? object : (withMetadata(object, { labels }) as T)

/** Once Ready, the owner annotation is the user's name only. */
function reduceOwner<T extends KubeObject>(object: T, phase: string): T {
  const { [ownerAnnotation]: annotation, ...annotations } = object.metadata.annotations ?? {}
  if (phase !== 'Ready' || annotation === undefined) return object
  const owner = readOwner(annotation)
  const reduced =
    owner === undefined ? {} : { [ownerAnnotation]: JSON.stringify({ username: owner.username }) }
  return withMetadata(object, { annotations: { ...annotations, ...reduced } }) as T
}

/** The object with the given annotations reset to those of the old object: only the server writes them. */
export function withSystemAnnotations<T extends KubeObject>(
  object: T,
  old: KubeObject | undefined,
  keys: readonly string[],
): T {
  const [sent, known] = [object.metadata.annotations ?? {}, old?.metadata.annotations ?? {}]
  if (keys.every(key => sent[key] === known[key])) return object
  const own = Object.entries(sent).filter(([key]) => !keys.includes(key))
  const kept = Object.entries(known).filter(([key]) => keys.includes(key))
  return withMetadata(object, { annotations: Object.fromEntries([...own, ...kept]) }) as T
}
