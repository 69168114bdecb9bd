import { Histories } from '../../framework/cache/histories.ts'
import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { Selection } from '../../framework/contract/storage.ts'
import type { ObjectKey } from '../../framework/meta/object.ts'
import { loopback } from '../../framework/request/user.ts'
import { formatLabelSelector, type LabelRequirement } from '../../framework/selectors/selectors.ts'
import type { Source } from '../reading/source.ts'
import { ManagedCopy } from './managedcopy.ts'

export interface CopiesOptions {
  /** Whether the shard is usable. Otherwise copies are not served, because they are not updated. */
  isGood(): boolean
  readonly log: Logger
  /** Closes all copies. */
  readonly signal: AbortSignal
}

/** A copy, and how to query it. */
export interface SelectedCopy extends Pick<Scope, 'within'> {
  readonly managed: ManagedCopy
}

const mostCopies = 100
const mostBytes = 1024 * 1024 * 1024
/** Milliseconds after the last use until a copy is closed. */
const longestIdle = 5 * 60_000

const idOf = ({ group, version, resource, identity = '' }: ResourceRef): string =>
  [group, version, resource, identity].join('/')

/** Copies of resources of all logical clusters of a shard, one for each resource and view selector that is read. */
export class Copies {
  readonly #options: CopiesOptions
  readonly #managed = new Map<string, ManagedCopy>()
  readonly #histories = new Histories()

  constructor(options: CopiesOptions) {
    this.#options = options
    const aging = setInterval(() => this.#age(), 60_000).unref()
    options.signal.addEventListener('abort', () => {
      clearInterval(aging)
      for (const id of this.#managed.keys()) this.#drop(id)
    })
  }

  isGood(): boolean {
    return this.#options.isGood()
  }

  /** The copy for a selection; undefined: the shard must serve the request. */
  of(source: Source, ctx: RequestContext, selection: Selection): SelectedCopy | undefined {
    const scope = source.ref.subresource ? undefined : scopeOf(ctx, selection)
    if (scope === undefined || this.#options.signal.aborted) return undefined
    const managed = this.#managedFor(source, scope)
    return managed && { managed, within: scope.within }
  }

  /** One object from the copy of its whole resource. It may be stale. undefined: no such copy or object. */
  find({ ref }: Source, key: ObjectKey): Item | undefined {
    const isWhole = ref.subresource === undefined || ref.subresource === 'status'
    return isWhole && this.isGood() ? this.#managed.get(`${idOf(ref)}?`)?.find(key) : undefined
  }

  #managedFor(source: Source, { copied, name }: Scope): ManagedCopy | undefined {
    const id = `${idOf(source.ref)}?${name}`
    const known = this.#managed.get(id)
    if (known !== undefined) return known
    if (this.#managed.size >= mostCopies && !this.#dropIdlest()) return undefined
    const room = (): number => mostBytes - this.#bytes()
    const shared = { histories: this.#histories, log: this.#options.log }
    const managed = new ManagedCopy({ source, selection: copied, room, ...shared })
    this.#managed.set(id, managed)
    return managed
  }

  #bytes(): number {
    let bytes = 0
    for (const managed of this.#managed.values()) bytes += managed.bytes
    return bytes
  }

  #age(): void {
    for (const [id, managed] of this.#managed) {
      managed.age()
      if (managed.idle > longestIdle) this.#drop(id)
    }
  }

  #dropIdlest(): boolean {
    const [idlest] = [...this.#managed]
      .filter(([, managed]) => managed.idle > 0)
      .sort(([, a], [, b]) => b.idle - a.idle)
    if (idlest !== undefined) this.#drop(idlest[0])
    return idlest !== undefined
  }

  #drop(id: string): void {
    this.#managed.get(id)?.close()
    this.#managed.delete(id)
  }
}

/** The objects that a copy contains. */
export interface Scope {
  readonly copied: Selection
  /** The query with the selectors that still apply to the objects of the copy. */
  readonly within: <Q extends Selection>(query: Q) => Q
  /** Equal for selections that use the same copy of a resource. */
  readonly name: string
}

const textOf = (requirement: LabelRequirement): string => formatLabelSelector({ requirements: [requirement] })

/**
 * A copy contains what the view's selector selects; the client's label selector is applied when it is read. undefined
 * where the shard must serve the request: in one logical cluster, where the user's permissions there apply, and for
 * field selectors, because only the shard knows the selectable fields of a kind.
 */
export function scopeOf({ actAs }: RequestContext, selection: Selection): Scope | undefined {
  const { cluster, labels, fields, view } = selection
  if (cluster !== '*' || actAs !== loopback || fields !== undefined) return undefined
  const copied = new Set(view?.requirements.map(textOf))
  const requirements = labels?.requirements.filter(requirement => !copied.has(textOf(requirement))) ?? []
  return {
    copied: { cluster, ...(view && { labels: view }) },
    within: query => ({ ...query, labels: { requirements } }),
    name: view === undefined ? '' : formatLabelSelector(view),
  }
}
