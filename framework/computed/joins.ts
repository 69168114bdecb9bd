import type { Informer } from '../contract/informer.ts'
import type { Item, ItemEvent } from '../contract/item.ts'
import { privateItem } from '../lens/privatestorage.ts'
import type { ClusterName, ObjectKey } from '../meta/object.ts'
import type { Texts } from '../wire/encode.ts'

/** How objects get annotations with values of other objects of their logical cluster. */
export interface Join {
  /** The objects of the storage: finds those that a joined object belongs to. */
  readonly objects: Informer
  /** The objects that are joined. */
  readonly joined: Informer
  /** The joined object of an object, in the same logical cluster; '' is the namespace of cluster-scoped ones. undefined: none. */
  readonly key: (object: Item) => Pick<ObjectKey, 'namespace' | 'name'> | undefined
  /**
   * The annotations by name. The functions get the joined object, or undefined where there is none, and return
   * undefined for no annotation.
   */
  readonly annotations: Readonly<Record<string, (joined: Item | undefined) => string | undefined>>
}

/** A change of a joined object that changes annotations. */
export interface JoinedChange {
  readonly key: ObjectKey
  readonly before: Item | undefined
  readonly revision: number
  /** The highest revision that any watch had sent when the change became known: it may be higher. */
  readonly sent: number
  /** The one object that the change is about: the informer of objects has learned it after the change. Absent: all. */
  readonly late?: Item
}

/** The number of changes that are kept for watches that are opened again. */
const mostChanges = 1000

/** The key as text. */
export const textOf = ({ cluster, namespace, name }: ObjectKey): string => `${cluster}/${namespace}/${name}`

/** The joined objects, and their last changes. */
export class Joins {
  readonly #join: Join
  readonly #followers = new Set<(change: JoinedChange) => void>()
  readonly #objectsOf: (key: string) => readonly Item[]
  #changes: JoinedChange[] = []
  /** The last of the kept changes of each joined object. */
  readonly #latest = new Map<string, JoinedChange>()
  #sent = 0
  /** The revision since which all changes are known; undefined: not yet determined. */
  #since: number | undefined

  constructor(join: Join) {
    this.#join = join
    this.#objectsOf = join.objects.index(item => {
      const key = this.keyOf(item)
      return key === undefined ? [] : [textOf(key)]
    })
    join.joined.onEvent(event => this.#note(event))
    join.objects.onEvent(event => this.#noteLate(event))
  }

  /** Resolves when all objects are known. `newest` returns the newest revision; it is called once. */
  async ready(newest: () => Promise<number>): Promise<void> {
    await Promise.all([this.#join.objects.synced, this.#join.joined.synced])
    if (this.#since !== undefined) return
    const revision = await newest()
    this.#since ??= revision
  }

  keyOf(item: Item): ObjectKey | undefined {
    const key = this.#join.key(privateItem(item))
    return key && { cluster: item.key.cluster, namespace: key.namespace, name: key.name }
  }

  /** The joined object as it is now. */
  of(item: Item): Item | undefined {
    const key = this.keyOf(item)
    return key && this.#join.joined.get(key.cluster, key.namespace, key.name)
  }

  /** The annotations of a joined object; undefined removes one. */
  valuesOf(joined: Item | undefined): Readonly<Record<string, string | undefined>> {
    const found = joined && privateItem(joined)
    const entries = Object.entries(this.#join.annotations).map(
      ([name, value]) => [name, value(found)] as const,
    )
    return Object.fromEntries(entries)
  }

  /** The names of the annotations. */
  get names(): readonly string[] {
    return Object.keys(this.#join.annotations)
  }

  /** The objects to which a joined object belongs. */
  objectsOf(key: ObjectKey): readonly Item[] {
    return this.#objectsOf(textOf(key))
  }

  /** Whether the informer of objects has this state of an object, or a newer one. */
  knows({ key, meta }: Item): boolean {
    const known = this.#join.objects.get(key.cluster, key.namespace, key.name)
    return known !== undefined && Number(known.meta.resourceVersion) >= Number(meta.resourceVersion)
  }

  /** The highest revision that any client has got. */
  get sent(): number {
    return this.#sent
  }

  /** All events up to a revision were sent to a client, or listed. */
  hasSent(revision: number): void {
    if (revision > this.#sent) this.#sent = revision
  }

  /** The changes that a client may not have seen that has seen a revision; undefined: they are not known any more. */
  changesAfter(revision: number): readonly JoinedChange[] | undefined {
    if (this.#since === undefined || revision < this.#since) return undefined
    return this.#changes.filter(change => change.revision > revision || change.sent >= revision)
  }

  /** Calls `handler` after each change. Returns a function that removes it. */
  follow(handler: (change: JoinedChange) => void): () => void {
    this.#followers.add(handler)
    return () => void this.#followers.delete(handler)
  }

  #note({ type, item, previous }: ItemEvent): void {
    const before = type === 'DELETED' ? item : previous
    const after = type === 'DELETED' ? undefined : item
    if (!this.#differ(before, after)) return
    const change = { key: item.key, before, revision: Number(item.meta.resourceVersion), sent: this.#sent }
    this.#changes.push(change)
    this.#latest.set(textOf(change.key), change)
    const [oldest] = this.#changes
    if (this.#changes.length > mostChanges && oldest !== undefined) {
      this.#changes = this.#changes.slice(1)
      if (this.#latest.get(textOf(oldest.key)) === oldest) this.#latest.delete(textOf(oldest.key))
      this.#since = Math.max(this.#since ?? 0, oldest.revision, oldest.sent + 1)
    }
    for (const handler of this.#followers) handler(change)
  }

  /** An object whose joined object has changed since: `objectsOf` did not have it then. */
  #noteLate({ type, item, previous }: ItemEvent): void {
    const key = this.#since === undefined || type === 'DELETED' ? undefined : this.keyOf(item)
    const change = key && this.#latest.get(textOf(key))
    if (change === undefined || change.revision <= Number(item.meta.resourceVersion)) return
    const before = previous && this.keyOf(previous)
    if (before !== undefined && textOf(before) === textOf(change.key)) return
    for (const handler of this.#followers) handler({ ...change, late: item })
  }

  #differ(before: Item | undefined, after: Item | undefined): boolean {
    const [was, is] = [this.valuesOf(before), this.valuesOf(after)]
    return this.names.some(name => was[name] !== is[name])
  }
}

/** The logical cluster and namespace of a selection have an object. */
export const isWithin = (
  { cluster, namespace = '' }: { readonly cluster: ClusterName; readonly namespace?: string },
  key: ObjectKey,
): boolean =>
  (cluster === '*' || cluster === key.cluster) && (namespace === '' || namespace === key.namespace)

/** The annotations of an object with those that are joined; the same object if nothing changes. */
export function annotationsWith(own: Texts, values: Readonly<Record<string, string | undefined>>): Texts {
  const changed = Object.entries(values).filter(([name, value]) => own[name] !== value)
  if (changed.length === 0) return own
  const all = { ...own, ...Object.fromEntries(changed) }
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
