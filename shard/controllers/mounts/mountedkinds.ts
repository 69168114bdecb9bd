import type { ResourceRef } from '../../../framework/contract/backend.ts'
import type { Informers } from '../../../framework/contract/informer.ts'
import type { Item } from '../../../framework/contract/item.ts'
import type { ObjectKey } from '../../../framework/meta/object.ts'

/** One object that a workspace refers to. */
export interface Reference {
  readonly resource: ResourceRef
  readonly key: ObjectKey
}

/** Watches the kinds that workspaces refer to, while a workspace refers to them. */
export interface MountedKinds {
  /** Replaces the reference of `user`. Returns the current object. */
  follow(user: string, reference: Reference): Item | undefined
  forget(user: string): void
}

interface Kind {
  readonly users: Set<string>
  /** Users by the object that they refer to. */
  readonly byObject: Map<string, Set<string>>
  stop(): void
}

const kindId = ({ group, resource, identity = '' }: ResourceRef): string => `${group}/${resource}/${identity}`
const objectId = ({ cluster, namespace, name }: ObjectKey): string => `${cluster}/${namespace}/${name}`

/** Calls `changed` with the users of an object that changed. */
export function createMountedKinds(informers: Informers, changed: (user: string) => void): MountedKinds {
  const kinds = new Map<string, Kind>()
  const references = new Map<string, Reference>()
  const watch = (resource: ResourceRef): Kind => {
    const byObject = new Map<string, Set<string>>()
    const stop = informers.for(resource).onEvent(({ type, item }) => {
      if (type === 'BOOKMARK') return
      for (const user of byObject.get(objectId(item.key)) ?? []) changed(user)
    })
    return { users: new Set(), byObject, stop }
  }
  const forget = (user: string): void => {
    const reference = references.get(user)
    references.delete(user)
    const id = reference && kindId(reference.resource)
    const kind = id === undefined ? undefined : kinds.get(id)
    if (reference === undefined || id === undefined || kind === undefined) return
    drop(kind, user, reference)
    if (kind.users.size > 0) return
    kind.stop()
    kinds.delete(id)
  }
  return {
    follow(user, reference) {
      const known = references.get(user)
      if (known === undefined || !isSame(known, reference)) {
        forget(user)
        const id = kindId(reference.resource)
        const kind = kinds.get(id) ?? watch(reference.resource)
        kinds.set(id, kind)
        add(kind, user, reference)
        references.set(user, reference)
      }
      const { cluster, namespace, name } = reference.key
      return informers.for(reference.resource).get(cluster, namespace, name)
    },
    forget,
  }
}

const isSame = (a: Reference, b: Reference): boolean =>
  kindId(a.resource) === kindId(b.resource) && objectId(a.key) === objectId(b.key)

function add(kind: Kind, user: string, { key }: Reference): void {
  kind.users.add(user)
  const id = objectId(key)
  kind.byObject.set(id, (kind.byObject.get(id) ?? new Set()).add(user))
}

function drop(kind: Kind, user: string, { key }: Reference): void {
  kind.users.delete(user)
  const id = objectId(key)
  const users = kind.byObject.get(id)
  users?.delete(user)
  if (users?.size === 0) kind.byObject.delete(id)
}
