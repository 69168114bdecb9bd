import { type FieldSet, union } from './fieldpath/fieldset.ts'
import { type Comparison, compare } from './typed/compare.ts'
import type { Type } from './typed/types.ts'

/** The types of one kind in all its versions; undefined: there is no such version any more. */
export type Versions = (apiVersion: string) => Type | undefined

/** Leaves out what an endpoint may not write. */
export type Filter = (fields: FieldSet) => FieldSet

/** How one object goes from one state to another. */
export interface Change {
  readonly live: unknown
  readonly next: unknown
  readonly versions: Versions
  readonly filter: Filter
}

/** What changed, as a version names it. */
export interface Difference {
  readonly removed: FieldSet
  /** Modified or added. */
  readonly set: FieldSet
}

/** The differences of a change by version, each made once. undefined: there is no such version any more. */
export function differencesOf({
  live,
  next,
  versions,
  filter,
}: Change): (apiVersion: string) => Difference | undefined {
  const known = new Map<Type, Difference>()
  return apiVersion => {
    const type = versions(apiVersion)
    if (type === undefined) return undefined
    const difference = known.get(type) ?? filtered(compare(type, live, next), filter)
    known.set(type, difference)
    return difference
  }
}

const filtered = ({ removed, modified, added }: Comparison, filter: Filter): Difference => ({
  removed: filter(removed),
  set: filter(union(modified, added)),
})
