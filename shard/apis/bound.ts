import type { Item } from '../../framework/item.ts'
import { groupResource, type KubeObject } from '../../framework/object.ts'
import type { APIBinding, BoundResource } from '../controllers/objects.ts'
import { boundId, boundServed, type Served } from './served.ts'
import { createShared } from './shared.ts'

/** What one APIBinding binds; equal bindings of different clusters share one object. */
export interface Bound {
  readonly resources: readonly BoundResource[]
  readonly terminating: boolean
}

export const boundName = ({ group, resource }: BoundResource): string => groupResource(group, resource)

/** An APIResourceSchema, decoded when asked for. */
export type SchemaItem = Pick<Item, 'object'>

/** APIResourceSchemas by uid, and what bindings make of them. */
export interface Schemas {
  set(uid: string, schema: SchemaItem): void
  remove(uid: string): void
  /** undefined while the schema is not there. */
  served(bound: BoundResource, terminating: boolean): Served | undefined
}

export function createSchemas(): Schemas {
  const schemas = new Map<string, SchemaItem>()
  const shared = createShared<Served>()
  return {
    set: (uid, schema) => void schemas.set(uid, schema),
    remove: uid => void schemas.delete(uid),
    served(bound, terminating) {
      const schema = schemas.get(bound.schema.UID)
      if (schema === undefined) return undefined
      return shared.get(boundId(bound, terminating), () => boundServed(bound, schema.object, terminating))
    },
  }
}

/** Reads APIBindings; the same content gives the same `Bound`. */
export function createBoundReader(): (binding: KubeObject) => Bound {
  const shared = createShared<Bound>()
  return object => {
    const binding = object as APIBinding
    const resources = binding.status?.boundResources ?? []
    const terminating = binding.metadata.deletionTimestamp !== undefined
    return shared.get(JSON.stringify([resources, terminating]), () => ({ resources, terminating }))
  }
}

/** Which bound resources exist for an identity, over all clusters, counted (chapter 20, section 6.1, rule 2). */
export interface Identities {
  add(bound: Bound): void
  remove(bound: Bound): void
  /** Any one; several bindings may have several schemas. */
  any(groupResource: string, identity: string): BoundResource | undefined
}

export function createIdentities(): Identities {
  const found = new Map<string, Map<string, { readonly bound: BoundResource; count: number }>>()
  const placeOf = (name: string, identity: string): string => `${name}:${identity}`
  const count = (bound: BoundResource, by: number): void => {
    const place = placeOf(boundName(bound), bound.schema.identityHash)
    const schemas = found.get(place) ?? new Map()
    const entry = schemas.get(bound.schema.UID) ?? { bound, count: 0 }
    entry.count += by
    if (entry.count > 0) schemas.set(bound.schema.UID, entry)
    else schemas.delete(bound.schema.UID)
    if (schemas.size > 0) found.set(place, schemas)
    else found.delete(place)
  }
  return {
    add: ({ resources }) => resources.forEach(bound => void count(bound, 1)),
    remove: ({ resources }) => resources.forEach(bound => void count(bound, -1)),
    any(name, identity) {
      const [first] = found.get(placeOf(name, identity))?.values() ?? []
      return first?.bound
    },
  }
}
