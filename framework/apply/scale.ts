import type { Json } from '../meta/object.ts'
import { type FieldPath, fieldElement } from './fieldpath/fieldpath.ts'
import { difference, has, isEmpty, setOf, setOfFields } from './fieldpath/fieldset.ts'
import { formatManaged, type Managed, type ManagedEntry, parseManaged } from './managed.ts'

type ManagedFields = readonly Json[] | undefined

/** Where each version of a kind keeps its number of replicas, by apiVersion; undefined: it has no scale. */
export type ReplicasPaths = ReadonlyMap<string, readonly string[] | undefined>

const scaleVersion = 'autoscaling/v1'
const replicas = setOfFields(['spec', 'replicas'])
const replicasPath: FieldPath = ['spec', 'replicas'].map(fieldElement)

const read = (managedFields: ManagedFields): Managed => parseManaged(managedFields ?? []) ?? new Map()

const write = (managed: Managed): ManagedFields =>
  managed.size === 0 ? undefined : (formatManaged(managed) as readonly Json[])

const pathOf = (paths: ReplicasPaths, apiVersion: string): FieldPath | undefined =>
  paths.get(apiVersion)?.map(fieldElement)

const ownsReplicas = (paths: ReplicasPaths, { apiVersion, fields }: ManagedEntry): boolean => {
  const path = pathOf(paths, apiVersion)
  return path !== undefined && has(fields, path)
}

/** Who owns the replicas of an object, as its Scale shows it (rules.md 5.57). */
export function managedFieldsOfScale(parent: ManagedFields, paths: ReplicasPaths): ManagedFields {
  const owners = [...read(parent)].filter(([, entry]) => ownsReplicas(paths, entry))
  const shown = owners.map(([key, entry]): [string, ManagedEntry] => [
    key,
    { ...entry, apiVersion: scaleVersion, fields: replicas },
  ])
  return write(new Map(shown))
}

/**
 * The managedFields of an object after a write to its Scale: who has lost the replicas loses their path, who has gained
 * them gets an entry of the subresource. Updaters always do both: as Kubernetes, which knows them by their version, and the
 * Scale has another one. Theirs become two entries.
 */
export function managedFieldsOfScaled(
  parent: ManagedFields,
  scale: ManagedFields,
  paths: ReplicasPaths,
  apiVersion: string,
): ManagedFields {
  const owners = new Map([...read(scale)].filter(([, { fields }]) => has(fields, replicasPath)))
  const kept = [...read(parent)].filter(([, entry]) => paths.has(entry.apiVersion))
  const isKept = new Set(
    kept.filter(([id, entry]) => owners.has(id) && ownsReplicas(paths, entry)).map(([id]) => id),
  )
  const left = kept.map(([id, entry]): [string, ManagedEntry] => [
    id,
    isKept.has(id) ? entry : withoutReplicas(entry, paths),
  ])
  const fields = replicasAt(pathOf(paths, apiVersion) ?? [])
  const gained = [...owners]
    .filter(([id]) => !isKept.has(id))
    .map(([id, { time: _, ...owner }]): [string, ManagedEntry] => [id, { ...owner, apiVersion, fields }])
  return write(new Map([...left, ...gained].filter(([, entry]) => !isEmpty(entry.fields))))
}

function withoutReplicas(entry: ManagedEntry, paths: ReplicasPaths): ManagedEntry {
  const path = pathOf(paths, entry.apiVersion)
  return path === undefined ? entry : { ...entry, fields: difference(entry.fields, replicasAt(path)) }
}

const replicasAt = (path: FieldPath): ManagedEntry['fields'] => setOf([path])
