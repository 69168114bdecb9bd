import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import type { Item } from '../../framework/contract/item.ts'
import type { Logger } from '../../framework/contract/log.ts'
import type { Selection } from '../../framework/contract/storage.ts'
import type { ObjectKey } from '../../framework/meta/object.ts'
import { loopback } from '../../framework/request/user.ts'
import { formatLabelSelector, type LabelRequirement } from '../../framework/selectors/selectors.ts'
import type { Source } from '../reading/source.ts'
import { Kept } from './kept.ts'

export interface CopiesOptions {
  /** Whether the shard can be used: what cannot be kept up is not shown. */
  isGood(): boolean
  readonly log: Logger
  /** Ends all copies. */
  readonly signal: AbortSignal
}

/** One copy, and what a query has to look for in it. */
export interface Shown extends Pick<Scope, 'within'> {
  readonly kept: Kept
}

const mostCopies = 100
const mostBytes = 1024 * 1024 * 1024
/** Milliseconds that a copy outlives its last use. */
const longestIdle = 5 * 60_000

const idOf = ({ group, version, resource, identity = '' }: ResourceRef): string =>
  [group, version, resource, identity].join('/')

/** What is read of a shard over all logical clusters, copied while somebody reads it. */
export class Copies {
  readonly #options: CopiesOptions
  readonly #kept = new Map<string, Kept>()

  constructor(options: CopiesOptions) {
    this.#options = options
    const aging = setInterval(() => this.#age(), 60_000).unref()
    options.signal.addEventListener('abort', () => {
      clearInterval(aging)
      for (const id of this.#kept.keys()) this.#drop(id)
    })
  }

  isGood(): boolean {
    return this.#options.isGood()
  }

  /** undefined: such a request is the shard's to answer. */
  of(source: Source, ctx: RequestContext, selection: Selection): Shown | undefined {
    const scope = source.ref.subresource ? undefined : scopeOf(ctx, selection)
    if (scope === undefined || this.#options.signal.aborted) return undefined
    const kept = this.#keep(source, scope)
    return kept && { kept, within: scope.within }
  }

  /** One object as it was a moment ago, when all of its resource is copied. */
  find({ ref }: Source, key: ObjectKey): Item | undefined {
    const isWhole = ref.subresource === undefined || ref.subresource === 'status'
    return isWhole && this.isGood() ? this.#kept.get(`${idOf(ref)}?`)?.find(key) : undefined
  }

  #keep(source: Source, { copied, name }: Scope): Kept | undefined {
    const id = `${idOf(source.ref)}?${name}`
    const known = this.#kept.get(id)
    if (known !== undefined) return known
    if (this.#kept.size >= mostCopies && !this.#dropIdlest()) return undefined
    const room = (): number => mostBytes - this.#bytes()
    const kept = new Kept({ source, selection: copied, room, log: this.#options.log })
    this.#kept.set(id, kept)
    return kept
  }

  #bytes(): number {
    let bytes = 0
    for (const kept of this.#kept.values()) bytes += kept.bytes
    return bytes
  }

  #age(): void {
    for (const [id, kept] of this.#kept) {
      kept.age()
      if (kept.idle > longestIdle) this.#drop(id)
    }
  }

  #dropIdlest(): boolean {
    const [idlest] = [...this.#kept]
      .filter(([, kept]) => kept.idle > 0)
      .sort(([, a], [, b]) => b.idle - a.idle)
    if (idlest !== undefined) this.#drop(idlest[0])
    return idlest !== undefined
  }

  #drop(id: string): void {
    this.#kept.get(id)?.close()
    this.#kept.delete(id)
  }
}

/** What one copy has of a resource. */
export interface Scope {
  readonly copied: Selection
  /** What a query has to look for in the copy. */
  readonly within: <Q extends Selection>(query: Q) => Q
  /** Equal for the same copy of one resource. */
  readonly name: string
}

const textOf = (requirement: LabelRequirement): string => formatLabelSelector({ requirements: [requirement] })

/**
 * What the view shows to everybody is copied; what a client selects of it is looked for there. undefined where the shard has
 * to answer: it decides what a user sees in one logical cluster, and what the fields of a kind are.
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
