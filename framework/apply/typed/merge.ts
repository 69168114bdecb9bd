import { atOnce, Work } from '../../json/json.ts'
import {
  equalSteps,
  isList,
  isMembers,
  type List,
  type Members,
  membersFrom,
  own,
  type PathElement,
  printElement,
} from '../fieldpath/fieldpath.ts'
import { elementsOf } from './elements.ts'
import { branchOf, type ListType, type MapType, type MergeType, TypedError } from './types.ts'

/**
 * Merges a configuration into the live value (`typed.TypedValue.Merge`; rules.md 5.47); undefined if nothing is left.
 * Unchanged parts are those of the live value.
 */
export const merge = (type: MergeType, live: unknown, config: unknown): unknown =>
  atOnce(mergeSteps(type, live, config, new Work()))

/** What `merge` returns, in steps. */
export function* mergeSteps(
  type: MergeType,
  live: unknown,
  config: unknown,
  work: Work,
): Generator<void, unknown> {
  switch (branchOf(type, config === undefined ? live : config)) {
    case 'map':
      return yield* mergeMaps(type.map, live, config, work)
    case 'list':
      return yield* mergeLists(type.list, live, config, work)
    default:
      return whole(live, config)
  }
}

const whole = (live: unknown, config: unknown): unknown => (config === undefined ? live : config)

function* mergeMaps(
  map: MapType | undefined,
  live: unknown,
  config: unknown,
  work: Work,
): Generator<void, unknown> {
  const [a, b] = [isMembers(live) ? live : {}, isMembers(config) ? config : {}]
  if (map === undefined || map.isAtomic) return yield* known(live, config, work)
  const keys = Object.keys(b)
  if (keys.length === 0) return Object.keys(a).length === 0 ? whole(live, config) : a
  let isBare = true
  const changed: [string, unknown][] = []
  for (const key of keys) {
    const before = own(a, key)
    if (before !== undefined) isBare = false
    const type = map.member(key)
    const given = own(b, key)
    const isWhole = type === undefined || given === undefined
    const after = isWhole ? whole(before, given) : yield* mergeSteps(type, before, given, work)
    if (after !== before) changed.push([key, after])
    if (work.isStepDone()) yield
  }
  if (changed.length > 0) return yield* withMembers(a, changed, work)
  return isBare && Object.keys(a).length === 0 ? undefined : a
}

/** An atomic value: the live value if it is equal. */
function* known(live: unknown, config: unknown, work: Work): Generator<void, unknown> {
  return config === undefined || (yield* equalSteps(live, config, work)) ? live : config
}

function* withMembers(
  members: Members,
  changed: readonly (readonly [string, unknown])[],
  work: Work,
): Generator<void, Members | undefined> {
  const merged = new Map<string, unknown>()
  for (const key of Object.keys(members)) {
    merged.set(key, members[key])
    if (work.isStepDone()) yield
  }
  for (const [key, value] of changed) {
    if (value === undefined) merged.delete(key)
    else merged.set(key, value)
    if (work.isStepDone()) yield
  }
  return merged.size === 0 ? undefined : yield* membersFrom(merged, work)
}

function* mergeLists(
  list: ListType | undefined,
  live: unknown,
  config: unknown,
  work: Work,
): Generator<void, unknown> {
  const [a, b] = [isList(live) ? live : [], isList(config) ? config : []]
  if (list === undefined || list.isAtomic) return yield* known(live, config, work)
  if (a.length + b.length === 0) return whole(live, config)
  const merged = yield* new ListMerge(list, a, b).run(work)
  if (merged.length === 0) return undefined
  return isSame(merged, a) ? a : merged
}

const isSame = (a: List, b: List): boolean => a.length === b.length && a.every((item, i) => item === b[i])

/**
 * Merges two lists in order: items of one list keep their position between their neighbors, items of both lists are in
 * the order of the configuration.
 */
class ListMerge {
  readonly #list: ListType
  readonly #live: List
  readonly #left: readonly PathElement[]
  readonly #right: readonly PathElement[]
  /** null for items that occur twice: they are not merged. */
  readonly #leftValues = new Map<PathElement, unknown>()
  readonly #rightValues = new Map<PathElement, unknown>()
  /** Elements of both lists in the order of the configuration, and how many of them are done. */
  readonly #shared: readonly PathElement[]
  #taken = 0
  readonly #done = new Set<PathElement>()
  readonly #out: unknown[] = []

  constructor(list: ListType, live: List, config: List) {
    this.#list = list
    this.#live = live
    this.#left = elementsOf(list, live)
    this.#right = elementsOf(list, config)
    this.#left.forEach((element, i) => {
      this.#leftValues.set(element, this.#leftValues.has(element) ? null : live[i])
    })
    this.#right.forEach((element, i) => {
      if (this.#rightValues.has(element)) throw duplicate(element)
      this.#rightValues.set(element, config[i])
    })
    this.#shared = this.#right.filter(element => this.#leftValues.has(element))
  }

  *run(work: Work): Generator<void, List> {
    let l = 0
    let r = 0
    while (l < this.#left.length || r < this.#right.length) {
      const left = this.#left[l]
      const right = this.#right[r]
      if (left !== undefined && left === right) {
        yield* this.#take(right, work)
        l++
        r++
      } else if (this.#comesLater(left, right)) l++
      else if (left !== undefined && !this.#rightValues.has(left)) {
        yield* this.#push(this.#live[l++], undefined, work)
      } else {
        if (left !== undefined && this.#done.has(left)) l++
        if (right !== undefined) yield* this.#take(right, work)
        if (right !== undefined) r++
      }
    }
    return this.#out
  }

  /** An item of both lists that is not the next one. */
  #comesLater(left: PathElement | undefined, right: PathElement | undefined): boolean {
    const next = this.#shared[this.#taken]
    if (left === undefined || right === undefined || next === undefined) return false
    return this.#rightValues.has(left) && next !== left
  }

  *#take(element: PathElement, work: Work): Generator<void> {
    this.#done.add(element)
    yield* this.#push(this.#leftValues.get(element), this.#rightValues.get(element), work)
    if (this.#shared[this.#taken] === element) this.#taken++
  }

  *#push(live: unknown, config: unknown, work: Work): Generator<void> {
    const merged = yield* mergeSteps(this.#list.item, live, config, work)
    if (merged !== undefined) this.#out.push(merged)
    if (work.isStepDone()) yield
  }
}

const duplicate = (element: PathElement): TypedError =>
  new TypedError([{ path: '', text: `duplicate entries for key ${printElement(element)}` }])
