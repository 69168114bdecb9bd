import { createHash } from 'node:crypto'
import type { ObjectMap } from '../../../framework/index.ts'
import { type AggregateFunction, functions } from './types.ts'

type OwnObject = Parameters<ObjectMap['set']>[1]
type Numbers = Readonly<Record<string, number>>
type ByFunction<T> = Readonly<Record<AggregateFunction, T>>

/** What one object adds to its group. */
export interface Contribution {
  readonly by: Readonly<Record<string, string>>
  readonly values: ByFunction<Numbers>
}

/** Groups of one aggregate; objects of further groups are not counted. */
export const mostGroups = 1_000

/** The groups of one aggregate, and the objects in them. */
export class Groups {
  readonly #aggregate: string
  readonly #groups = new Map<string, Map<string, Contribution>>()
  /** The group of each object. */
  readonly #places = new Map<string, string>()
  readonly #changed = new Set<string>()
  /** Whether objects are not counted, because there are too many groups. */
  isFull = false

  constructor(aggregate: string) {
    this.#aggregate = aggregate
  }

  /** Adds or replaces an object; without a contribution, it is removed. */
  put(id: string, contribution: Contribution | undefined): void {
    this.#remove(id)
    if (contribution === undefined) return
    const name = nameOf(this.#aggregate, contribution.by)
    const known = this.#groups.get(name)
    if (known === undefined && this.#groups.size >= mostGroups) {
      this.isFull = true
      return
    }
    const members = known ?? new Map<string, Contribution>()
    members.set(id, contribution)
    this.#groups.set(name, members)
    this.#places.set(id, name)
    this.#changed.add(name)
  }

  #remove(id: string): void {
    const name = this.#places.get(id)
    if (name === undefined) return
    const members = this.#groups.get(name)
    members?.delete(id)
    if (members?.size === 0) this.#groups.delete(name)
    this.#places.delete(id)
    this.#changed.add(name)
  }

  /** The groups that have changed since the last call; without an object: the group is empty. */
  changes(): readonly { readonly name: string; readonly object?: OwnObject }[] {
    const names = [...this.#changed]
    this.#changed.clear()
    return names.map(name => {
      const members = this.#groups.get(name)
      return members === undefined ? { name } : { name, object: this.#objectOf(name, members) }
    })
  }

  #objectOf(name: string, members: ReadonlyMap<string, Contribution>): OwnObject {
    const all = [...members.values()]
    const computed = functions.flatMap(each => {
      const values = computedBy(each, all)
      return Object.keys(values).length === 0 ? [] : [[each, values] as const]
    })
    return {
      metadata: { name },
      aggregate: this.#aggregate,
      group: all[0]?.by ?? {},
      count: all.length,
      ...Object.fromEntries(computed),
    }
  }
}

function computedBy(how: AggregateFunction, all: readonly Contribution[]): Numbers {
  const names = Object.keys(all[0]?.values[how] ?? {})
  return Object.fromEntries(
    names.map(name => [name, all.map(({ values }) => values[how][name] ?? 0).reduce(reducers[how])]),
  )
}

const reducers: ByFunction<(a: number, b: number) => number> = {
  sum: (a, b) => a + b,
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
}

/** `by-color-` and 32 digits: the name of a group does not depend on its objects. Who chooses values finds no two with one name. */
function nameOf(aggregate: string, by: Readonly<Record<string, string>>): string {
  const entries = Object.entries(by).sort(([a], [b]) => (a < b ? -1 : 1))
  if (entries.length === 0) return aggregate
  const hash = createHash('sha256').update(JSON.stringify(entries)).digest('hex').slice(0, 32)
  return `${aggregate}-${hash}`
}
