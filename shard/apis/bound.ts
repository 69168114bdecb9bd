import type { Item } from '../../framework/contract/item.ts'
import { type ClusterName, groupResource, type KubeObject } from '../../framework/meta/object.ts'
import type { APIBinding, BoundAPIResource } from '../../kcp/apis.ts'
import { boundId, boundServed, type ServedDefinition } from './served.ts'

/** The resources of one APIBinding; equal bindings of different clusters share one object. */
export interface BoundResources {
  readonly resources: readonly BoundAPIResource[]
  readonly terminating: boolean
}

export const boundName = ({ group, resource }: BoundAPIResource): string => groupResource(group, resource)

/** An APIResourceSchema, decoded when asked for. */
export type SchemaItem = Pick<Item, 'object'>

/**
 * A schema is known while the APIResourceSchema or its copy in `system:bound-crds` exists. The copy is preferred: tenants
 * cannot write it.
 */
export type SchemaSource = 'schema' | 'copy'

/** APIResourceSchemas by uid, and the resources that bindings make of them. */
export interface Schemas {
  /** Returns whether the schema became known or unknown. */
  set(uid: string, source: SchemaSource, schema: SchemaItem | undefined): boolean
  /** undefined while the schema is not known. */
  served(bound: BoundAPIResource, terminating: boolean): ServedDefinition | undefined
}

export function createSchemas(): Schemas {
  const sources = { schema: new Map<string, SchemaItem>(), copy: new Map<string, SchemaItem>() }
  const find = (uid: string): SchemaItem | undefined => sources.copy.get(uid) ?? sources.schema.get(uid)
  const shared = createShared<ServedDefinition>()
  return {
    set(uid, source, schema) {
      const wasKnown = find(uid) !== undefined
      if (schema) sources[source].set(uid, schema)
      else sources[source].delete(uid)
      return wasKnown !== (find(uid) !== undefined)
    },
    served(bound, terminating) {
      const schema = find(bound.schema.UID)
      if (schema === undefined) return undefined
      return shared.get(boundId(bound, terminating), () => boundServed(bound, schema.object, terminating))
    },
  }
}

/** Reads APIBindings; equal content gives the same object. */
export function createBoundReader(): (binding: KubeObject) => BoundResources {
  const shared = createShared<BoundResources>()
  return object => {
    const binding = object as APIBinding
    const resources = binding.status?.boundResources ?? []
    const terminating = binding.metadata.deletionTimestamp !== undefined
    return shared.get(JSON.stringify([resources, terminating]), () => ({ resources, terminating }))
  }
}

/** The bound resources of each identity over all clusters, counted. */
export interface Identities {
  add(bound: BoundResources): void
  remove(bound: BoundResources): void
  /** One for each schema that bindings have for the resource. */
  of(groupResource: string, identity: string): readonly BoundAPIResource[]
  /** The resource of any identity. */
  any(groupResource: string): BoundAPIResource | undefined
}

export function createIdentities(): Identities {
  const found = new Map<string, Map<string, { readonly bound: BoundAPIResource; count: number }>>()
  const placeOf = (name: string, identity: string): string => `${name}:${identity}`
  const count = (bound: BoundAPIResource, by: number): void => {
    const place = placeOf(boundName(bound), bound.schema.identityHash)
    const ways = found.get(place) ?? new Map()
    const id = boundId(bound, false)
    const entry = ways.get(id) ?? { bound, count: 0 }
    entry.count += by
    if (entry.count > 0) ways.set(id, entry)
    else ways.delete(id)
    if (ways.size > 0) found.set(place, ways)
    else found.delete(place)
  }
  return {
    add: ({ resources }) => resources.forEach(bound => void count(bound, 1)),
    remove: ({ resources }) => resources.forEach(bound => void count(bound, -1)),
    of: (name, identity) =>
      [...(found.get(placeOf(name, identity))?.values() ?? [])].map(({ bound }) => bound),
    any(name) {
      for (const ways of found.values())
        for (const { bound } of ways.values()) if (boundName(bound) === name) return bound
      return undefined
    },
  }
}

/** The logical clusters that bind each schema. */
export interface Binders {
  /** undefined when no binding has the schema in its status. */
  of(schemaUid: string): ReadonlySet<ClusterName> | undefined
  /** One binding of the cluster was `old`; `bindings` are all that it has now. */
  update(cluster: ClusterName, old: BoundResources | undefined, bindings: Iterable<BoundResources>): void
}

export function createBinders(): Binders {
  const clustersOf = new Map<string, Set<ClusterName>>()
  const forget = (uid: string, cluster: ClusterName): void => {
    const clusters = clustersOf.get(uid)
    clusters?.delete(cluster)
    if (clusters?.size === 0) clustersOf.delete(uid)
  }
  return {
    of: uid => clustersOf.get(uid),
    update(cluster, old, bindings) {
      for (const { schema } of old?.resources ?? []) forget(schema.UID, cluster)
      for (const { resources } of bindings)
        for (const { schema } of resources)
          clustersOf.set(schema.UID, (clustersOf.get(schema.UID) ?? new Set()).add(cluster))
    },
  }
}

/** The resources that are served differently after a binding changed. */
export function changedNames(
  old: BoundResources | undefined,
  next: BoundResources | undefined,
): readonly string[] {
  const wordings = (bound: BoundResources | undefined): Map<string, string> =>
    new Map(bound?.resources.map(r => [boundName(r), JSON.stringify(r)]))
  const [before, after] = [wordings(old), wordings(next)]
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    name => before.get(name) !== after.get(name),
  )
}

/** Values by content: equal keys get the same object while it is referenced. */
export interface SharedValues<T extends object> {
  get(key: string, make: () => T): T
}

/** Values are held weakly; keys of collected values are removed. */
export function createShared<T extends object>(): SharedValues<T> {
  const values = new Map<string, WeakRef<T>>()
  const gone = new FinalizationRegistry<string>(key => {
    if (values.get(key)?.deref() === undefined) values.delete(key)
  })
  return {
    get(key, make) {
      const known = values.get(key)?.deref()
      if (known !== undefined) return known
      const made = make()
      values.set(key, new WeakRef(made))
      gone.register(made, key)
      return made
    },
  }
}
