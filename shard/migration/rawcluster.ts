import { originAnnotation } from '../../framework/contract/item.ts'
import { type ClusterName, isSystemCluster } from '../../framework/meta/object.ts'
import { isClusterName } from '../../framework/request/path.ts'
import { decodeObject } from '../../framework/wire/encode.ts'
import {
  dumpAnnotation,
  incomingAnnotation,
  leavingAnnotation,
  migratingAnnotation,
} from '../../kcp/annotations.ts'
import type { LogicalCluster } from '../../kcp/core.ts'
import { logicalClusterName, rootCluster } from '../../kcp/logicalclusters.ts'
import { resources } from '../../kcp/resources.ts'
import type { ClusterContent } from '../bindings/content.ts'
import { decodeStored, encodeStored, registryPrefix, storageKey } from '../cache/codec.ts'
import { storedResourceOf } from '../manifests/apply.ts'
import type { StoreChange, StoredValue } from '../store/store.ts'

/** A LogicalCluster as it is stored: without the labels that reads add. */
export interface RawCluster {
  readonly object: LogicalCluster
  readonly modified: number
}

/** The key of the LogicalCluster of a logical cluster. */
export const keyOfCluster = (cluster: ClusterName): string =>
  storageKey(storedResourceOf(resources.logicalClusters), {
    cluster,
    namespace: '',
    name: logicalClusterName,
  })

/** Not `root` and those of the system, which each shard has for itself. */
export const isMovable = (cluster: ClusterName): boolean =>
  cluster !== rootCluster && !isSystemCluster(cluster) && isClusterName(cluster)

/** The range of the keys of all objects of a logical cluster. */
export function rangeOf(cluster: ClusterName): readonly [from: string, to: string] {
  const prefix = `${registryPrefix}${cluster}/`
  // '0' follows '/'.
  return [prefix, `${prefix.slice(0, -1)}0`]
}

/** The LogicalCluster if it is of this shard and no copy. */
export async function rawCluster(
  content: ClusterContent,
  cluster: ClusterName,
): Promise<RawCluster | undefined> {
  const key = keyOfCluster(cluster)
  const [value] = await content.values(key, `${key}\0`, 1)
  if (value === undefined) return undefined
  const object = decodeObject(decodeStored(value.value).bytes) as LogicalCluster
  const isOwn = object.metadata.annotations?.[originAnnotation] === undefined
  return isOwn ? { object, modified: value.modified } : undefined
}

const annotationIn = ({ object }: RawCluster, name: string): string | undefined =>
  object.metadata.annotations?.[name]

/** Whether a logical cluster moves because of a migration, from this shard or to it. */
export const movesFor = (home: RawCluster, annotation: string): boolean =>
  annotationIn(home, migratingAnnotation) === annotation

/** Whether it comes from another shard, which still has its objects or has had them. */
export const isIncoming = (home: RawCluster): boolean => annotationIn(home, incomingAnnotation) !== undefined

/** Whether its objects are being removed here, because another shard has them. */
export const isLeaving = (home: RawCluster): boolean => annotationIn(home, leavingAnnotation) !== undefined

/** The third part of `<origin>,<revision>,complete,<number of objects>`. */
const complete = 'complete'

/** What a destination says about a logical cluster that comes from another shard. */
export interface ArrivalNote {
  /** The shard that it comes from. */
  readonly origin: string
  /** The last revision of the origin that was copied. */
  readonly last: number
  /** Whether all its objects have been copied. */
  readonly isComplete: boolean
  /** How many they are. */
  readonly count: number
}

export function arrivalOf(home: RawCluster): ArrivalNote {
  const [origin = '', last, state, count] = annotationIn(home, incomingAnnotation)?.split(',') ?? []
  return { origin, last: Number(last), isComplete: state === complete, count: Number(count) }
}

/** One of `dumpStates` if it moves to a shard of kcp. */
export const dumpStateOf = (home: RawCluster): string | undefined =>
  annotationIn(home, dumpAnnotation)?.split(',')[0]

/** The revision since which a logical cluster that moves is closed. */
export const closedAt = (home: RawCluster): number =>
  Number(annotationIn(home, dumpAnnotation)?.split(',')[1] ?? home.modified)

/** The LogicalCluster with other annotations; undefined removes one. */
export function annotated(
  object: LogicalCluster,
  annotations: Readonly<Record<string, string | undefined>>,
): LogicalCluster {
  const next = Object.entries({ ...object.metadata.annotations, ...annotations }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return { ...object, metadata: { ...object.metadata, annotations: Object.fromEntries(next) } }
}

/** Notes that everything is copied, and how much that is: it tells without the migration where the objects are. */
export function withCount(object: LogicalCluster, count: number | undefined): LogicalCluster {
  const [origin, there] = (object.metadata.annotations?.[incomingAnnotation] ?? '').split(',')
  const text = [origin, there, ...(count === undefined ? [] : [complete, count])].join(',')
  return annotated(object, { [incomingAnnotation]: text })
}

/** The change that stores a LogicalCluster over the one that was read. */
export const changeOf = (
  cluster: ClusterName,
  { modified }: RawCluster,
  object: LogicalCluster,
): StoreChange => ({
  key: keyOfCluster(cluster),
  value: encodeStored(object),
  expected: modified,
})

/** Changes in one commit, and values that are read at once: a commit is applied in one turn of the event loop. */
export const batch = 500
/** Bytes in one commit: etcd refuses requests above 1.5 MiB. */
const batchBytes = 1024 * 1024

/** Commits changes in batches; those of one group are in the same one. */
export async function transferAll(
  content: ClusterContent,
  groups: readonly (readonly StoreChange[])[],
): Promise<void> {
  let [next, bytes]: [StoreChange[], number] = [[], 0]
  for (const group of groups) {
    const size = group.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
    if (next.length > 0 && (next.length + group.length > batch || bytes + size > batchBytes)) {
      await content.transfer(next)
      next = []
      bytes = 0
    }
    next.push(...group)
    bytes += size
  }
  if (next.length > 0) await content.transfer(next)
}

/** The number of values in a range. */
export async function countOf(
  values: ClusterContent['values'],
  range: readonly [string, string],
): Promise<number> {
  let count = 0
  for await (const found of valuesOf(values, range)) count += found.length
  return count
}

/** The values of a range, a batch at a time. */
export async function* valuesOf(
  values: ClusterContent['values'],
  [from, to]: readonly [string, string],
): AsyncGenerator<readonly StoredValue[], void> {
  for (let next = from; ; ) {
    const found = await values(next, to, batch)
    const last = found.at(-1)
    if (last === undefined) return
    yield found
    next = `${last.key}\0`
  }
}
