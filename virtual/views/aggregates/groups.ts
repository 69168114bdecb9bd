import { createHash } from 'node:crypto'
import type { Steps } from '../../../framework/async/awaitable.ts'
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

/** A group that has changed; without an object it is empty. */
export interface GroupChange {
  readonly name: string
  readonly object?: OwnObject
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
  *changes(): Steps<readonly GroupChange[]> {
    const names = [...this.#changed]
    this.#changed.clear()
    const changes: GroupChange[] = []
    for (const name of names) {
      const members = this.#groups.get(name)
      changes.push(members === undefined ? { name } : { name, object: yield* this.#objectOf(name, members) })
    }
    return changes
  }

  *#objectOf(name: string, members: ReadonlyMap<string, Contribution>): Steps<OwnObject> {
    const [first] = members.values()
    const computed = Object.entries(yield* combined(members.values()))
    return {
      metadata: { name },
      aggregate: this.#aggregate,
      group: first?.by ?? {},
      count: members.size,
      ...Object.fromEntries(computed.filter(([, values]) => Object.keys(values).length > 0)),
    }
  }
}

/** Members that are read without a turn of other work: that takes less than a millisecond. */
const membersAtOnce = 500

function* combined(members: Iterable<Contribution>): Steps<ByFunction<Numbers>> {
  const results: ByFunction<Record<string, number>> = { sum: {}, min: {}, max: {} }
  let read = 0
  for (const { values } of members) {
    for (const how of functions) add(results[how], values[how], reducers[how])
    if (++read % membersAtOnce === 0) yield
  }
  return results
}

function add(to: Record<string, number>, values: Numbers, reduce: (a: number, b: number) => number): void {
  for (const [name, value] of Object.entries(values)) {
    const known = to[name]
    to[name] = known === undefined ? value : reduce(known, value)
  }
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
