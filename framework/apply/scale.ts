import { Work } from '../json/json.ts'
import type { Json } from '../meta/object.ts'
import { type FieldPath, fieldElement } from './fieldpath/fieldpath.ts'
import { differenceSteps, has, isEmpty, setOf, setOfFields } from './fieldpath/fieldset.ts'
import { formatManagedSteps, type Managed, type ManagedEntry, parseManagedSteps } from './managed.ts'

type ManagedFields = readonly Json[] | undefined
type Steps<T> = Generator<void, T>

/**
 * The path of the replicas in each version of a kind, by apiVersion; undefined: the version has no scale subresource.
 */
export type ReplicasPaths = ReadonlyMap<string, readonly string[] | undefined>

const scaleVersion = 'autoscaling/v1'
const replicas = setOfFields(['spec', 'replicas'])
const replicasPath: FieldPath = ['spec', 'replicas'].map(fieldElement)

function* read(managedFields: ManagedFields): Steps<Managed> {
  return (yield* parseManagedSteps(managedFields ?? [])) ?? new Map()
}

function* write(managed: Managed): Steps<ManagedFields> {
  return managed.size === 0 ? undefined : ((yield* formatManagedSteps(managed)) as readonly Json[])
}

const pathOf = (paths: ReplicasPaths, apiVersion: string): FieldPath | undefined =>
  paths.get(apiVersion)?.map(fieldElement)

const ownsReplicas = (paths: ReplicasPaths, { apiVersion, fields }: ManagedEntry): boolean => {
  const path = pathOf(paths, apiVersion)
  return path !== undefined && has(fields, path)
}

/**
 * The managedFields of the Scale of an object: the owners of its replicas (`scaleHandler.ToSubresource`; rules.md
 * 5.57). In steps.
 */
export function* managedFieldsOfScale(parent: ManagedFields, paths: ReplicasPaths): Steps<ManagedFields> {
  const owners = [...(yield* read(parent))].filter(([, entry]) => ownsReplicas(paths, entry))
  const shown = owners.map(([key, entry]): [string, ManagedEntry] => [
    key,
    { ...entry, apiVersion: scaleVersion, fields: replicas },
  ])
  return yield* write(new Map(shown))
}

/**
 * The managedFields of an object after a write to its Scale (`scaleHandler.ToParent`): managers that have lost the
 * replicas lose their path, managers that have gained them get an entry of the subresource. Both happen to updaters,
 * whose identity contains the version, which differs in the Scale: they get a second entry, as in Kubernetes.
 * In steps.
 */
export function* managedFieldsOfScaled(
  parent: ManagedFields,
  scale: ManagedFields,
  paths: ReplicasPaths,
  apiVersion: string,
): Steps<ManagedFields> {
  const owners = new Map([...(yield* read(scale))].filter(([, { fields }]) => has(fields, replicasPath)))
  const kept = [...(yield* read(parent))].filter(([, entry]) => paths.has(entry.apiVersion))
  const isKept = new Set(
    kept.filter(([id, entry]) => owners.has(id) && ownsReplicas(paths, entry)).map(([id]) => id),
  )
  const left: [string, ManagedEntry][] = []
  for (const [id, entry] of kept)
    left.push([id, isKept.has(id) ? entry : yield* withoutReplicas(entry, paths)])
  const fields = replicasAt(pathOf(paths, apiVersion) ?? [])
  const gained = [...owners]
    .filter(([id]) => !isKept.has(id))
    .map(([id, { time: _, ...owner }]): [string, ManagedEntry] => [id, { ...owner, apiVersion, fields }])
  return yield* write(new Map([...left, ...gained].filter(([, entry]) => !isEmpty(entry.fields))))
}

function* withoutReplicas(entry: ManagedEntry, paths: ReplicasPaths): Steps<ManagedEntry> {
  const path = pathOf(paths, entry.apiVersion)
  if (path === undefined) return entry
  return { ...entry, fields: yield* differenceSteps(entry.fields, replicasAt(path), new Work()) }
}

const replicasAt = (path: FieldPath): ManagedEntry['fields'] => setOf([path])
