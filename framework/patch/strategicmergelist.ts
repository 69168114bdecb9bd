import { goText, goType } from '../json/gotext.ts'
import type { Work } from '../json/json.ts'
import { isMembers } from '../json/values.ts'
import { StatusError } from '../meta/errors.ts'
import { jsonType } from '../wire/metadata.ts'

type Members = Readonly<Record<string, unknown>>
type List = readonly unknown[]

/** How the items of a list are identified and merged. */
export interface ListMerging {
  /** Empty for lists of scalars. */
  readonly mergeKey: string
  mergeItem(live: Members, change: Members): Generator<void, Members>
  readonly work: Work
}

/** Merges two lists by key, or as sets of scalars; items of the patch are in its order. In steps. */
export function* mergeList(live: List, change: List, merging: ListMerging): Generator<void, List> {
  if (live.length === 0 && change.length === 0) return live
  const { mergeKey, work } = merging
  if ((yield* kindOf(work, live, change)) !== 'object') {
    const all = [...(yield* setOf([...live, ...change], work))]
    return yield* arranged(all, { wanted: change, live, mergeKey: '', work })
  }
  if (mergeKey === '') throw mergeFailed('cannot merge lists without merge key for struct')
  const [left, changes] = yield* withoutSpecialItems(live as Members[], change as Members[], merging)
  const merged = yield* mergeItems(left, changes, merging)
  return yield* arranged(merged, { wanted: changes, live: left, mergeKey, work })
}

/** `$deleteFromPrimitiveList`, in steps. */
export function* deleteScalars(live: List, deleted: List, work: Work): Generator<void, List> {
  if (live.length > 0 || deleted.length > 0) yield* kindOf(work, live, deleted)
  const gone = yield* setOf(deleted, work)
  return yield* filtered(live, item => !gone.has(item), work)
}

function* setOf(items: List, work: Work): Generator<void, ReadonlySet<unknown>> {
  const all = new Set<unknown>()
  for (const item of items) {
    all.add(item)
    if (work.isStepDone()) yield
  }
  return all
}

function* filtered<T>(
  items: readonly T[],
  isKept: (item: T) => boolean,
  work: Work,
): Generator<void, readonly T[]> {
  const kept: T[] = []
  for (const item of items) {
    if (isKept(item)) kept.push(item)
    if (work.isStepDone()) yield
  }
  return kept
}

/** A list, its change, and the order in `$setElementOrder`. */
interface Ordered {
  readonly live: List | undefined
  readonly change: List | undefined
  readonly wanted: List
}

interface OrderedMerging extends ListMerging {
  /** The patch strategy is `merge`; otherwise a change replaces the list. */
  readonly isMerged: boolean
  /** New items without directives. */
  plain(value: unknown, work: Work): Generator<void, unknown>
}

export function* orderedList(ordered: Ordered, merging: OrderedMerging): Generator<void, List> {
  const { live, change, wanted } = ordered
  const { mergeKey, work } = merging
  yield* checkOrder(change ?? [], wanted, merging)
  const merged = yield* contentOf(ordered, merging)
  yield* kindOf(work, live ?? [], change ?? [])
  const isKeyed = merging.isMerged && mergeKey !== ''
  const order = isKeyed ? yield* orderOf(live ?? [], change ?? [], merging) : (live ?? [])
  return yield* arranged(merged, { wanted, live: order, mergeKey, work })
}

/** The live order, followed by new items in place of deleted ones. */
function* orderOf(live: List, change: List, { mergeKey, work }: ListMerging): Generator<void, List> {
  const key = (item: unknown): unknown => keyOf(item, mergeKey)
  const deleted = yield* filtered(change, isDeleted, work)
  const gone = yield* setOf(deleted.map(key), work)
  const kept = yield* filtered(live, item => !gone.has(key(item)), work)
  const known = yield* positions(kept, mergeKey, work)
  const added = yield* filtered(change, item => !hasDirective(item) && !known.has(key(item)), work)
  return [...kept, ...added.slice(0, live.length - kept.length)]
}

const isDeleted = (item: unknown): boolean => isMembers(item) && item.$patch === 'delete'

function* contentOf({ live, change }: Ordered, merging: OrderedMerging): Generator<void, List> {
  if (change === undefined) return live ?? []
  if (live === undefined) return (yield* merging.plain(change, merging.work)) as List
  return merging.isMerged ? yield* mergeList(live, change, merging) : change
}

/** The type of all items. Throws 422 for lists of lists, 500 for items of different types. */
function* kindOf(work: Work, ...lists: readonly List[]): Generator<void, string> {
  const first = lists.find(list => list.length > 0)?.[0]
  if (first === undefined) throw mergeFailed('no elements in any of the given slices')
  const type = goType(first)
  if (Array.isArray(first)) throw listOfLists()
  for (const list of lists)
    for (const item of list) {
      if (first === null || goType(item) !== type)
        throw mergeFailed(`list element types are not identical: ${goText(lists)}`)
      if (work.isStepDone()) yield
    }
  return jsonType(first)
}

function membersOf(item: unknown): Members {
  if (isMembers(item)) return item
  throw badArgument({}, item)
}

function keyOf(item: unknown, mergeKey: string): unknown {
  if (mergeKey === '') return item
  const members = membersOf(item)
  if (Object.hasOwn(members, mergeKey)) return members[mergeKey]
  throw noMergeKey(members, mergeKey)
}

/** Handles items with `$patch`: `delete` removes the item with the key, `replace` replaces the list. */
function* withoutSpecialItems(
  live: readonly Members[],
  change: readonly Members[],
  { mergeKey, work }: ListMerging,
): Generator<void, readonly [readonly Members[], readonly Members[]]> {
  const special = yield* filtered(change, hasDirective, work)
  const ordinary = yield* filtered(change, item => !hasDirective(item), work)
  const deleted = special.filter(item => isDeletion(item)).map(item => keyOf(item, mergeKey))
  if (deleted.length < special.length) return [ordinary, []]
  const gone = yield* setOf(deleted, work)
  return [yield* filtered(live, item => !gone.has(item[mergeKey]), work), ordinary]
}

/** Whether the directive deletes, or else replaces; throws for other directives. */
function isDeletion(item: Members): boolean {
  const what = item.$patch
  if (what === 'delete' || what === 'replace') return what === 'delete'
  if (what === 'merge') throw mergeFailed('merging lists cannot yet be specified in the patch')
  throw mergeFailed(`unknown patch type: ${goText(what)} in map: ${goText(item)}`)
}

function* mergeItems(
  live: readonly Members[],
  changes: readonly Members[],
  { mergeKey, mergeItem, work }: ListMerging,
): Generator<void, List> {
  const merged = [...live]
  // Of equal keys the first one counts. An item without its key has the key undefined.
  const places = yield* firstPlaces(live, item => item[mergeKey], work)
  for (const change of changes) {
    const key = keyOf(change, mergeKey)
    const at = places.get(key) ?? merged.length
    const found = merged[at]
    merged[at] = found === undefined ? change : yield* mergeItem(found, change)
    places.set(key, at)
    if (work.isStepDone()) yield
  }
  return merged
}

/** The items of a patch must be in the order that it requests, except for deletions. */
function* checkOrder(change: List, wanted: List, { mergeKey, work }: ListMerging): Generator<void> {
  if (wanted.length === 0 || change.length === 0) return
  const isOrdered = (item: unknown): boolean => mergeKey === '' || !isDeleted(membersOf(item))
  const items = yield* filtered(change, isOrdered, work)
  let at = 0
  for (const item of wanted) {
    while (hasDirective(items[at])) at++
    if (at < items.length && keyOf(items[at], mergeKey) === keyOf(item, mergeKey)) at++
    if (work.isStepDone()) yield
  }
  if (at >= items.length) return
  throw mergeFailed(
    `The order in patch list:\n${goText(change)}\n doesn't match $setElementOrder list:\n${goText(wanted)}\n`,
  )
}

const hasDirective = (item: unknown): boolean => isMembers(item) && Object.hasOwn(item, '$patch')

interface Arrangement {
  readonly wanted: List
  readonly live: List
  readonly mergeKey: string
  readonly work: Work
}

/** Items of the patch in its order, other items in theirs, each before the items that it was before (rules.md 5.17). */
function* arranged(items: List, { wanted, live, mergeKey, work }: Arrangement): Generator<void, List> {
  const wantedAt = yield* positions(wanted, mergeKey, work)
  const liveAt = yield* positions(live, mergeKey, work)
  const key = (item: unknown): unknown => keyOf(item, mergeKey)
  const place = (at: Places) => (item: unknown) => at.get(key(item)) ?? items.length
  const named = yield* filtered(items, item => wantedAt.has(key(item)), work)
  const others = yield* filtered(items, item => !wantedAt.has(key(item)), work)
  const before = (a: unknown, b: unknown): boolean => {
    const [x, y] = [liveAt.get(key(a)), liveAt.get(key(b))]
    return x !== undefined && y !== undefined && x < y
  }
  const left = yield* byPlace(others, place(liveAt), work)
  const right = yield* byPlace(named, place(wantedAt), work)
  return yield* interleaved([left, right], before, work)
}

type Places = Map<unknown, number>

const positions = (list: List, mergeKey: string, work: Work): Generator<void, Places> =>
  firstPlaces(list, item => keyOf(item, mergeKey), work)

/** The index of the first item with each key. */
function* firstPlaces<T>(
  items: readonly T[],
  keyOf: (item: T) => unknown,
  work: Work,
): Generator<void, Places> {
  const places: Places = new Map()
  for (const [i, item] of items.entries()) {
    const key = keyOf(item)
    if (!places.has(key)) places.set(key, i)
    if (work.isStepDone()) yield
  }
  return places
}

/** Sorts by place, without comparing items; stable. */
function* byPlace(items: List, placeOf: (item: unknown) => number, work: Work): Generator<void, List> {
  const places: unknown[][] = []
  for (const item of items) {
    const place = placeOf(item)
    const others = places[place]
    if (others === undefined) places[place] = [item]
    else others.push(item)
    if (work.isStepDone()) yield
  }
  const sorted: unknown[] = []
  for (const place in places) {
    for (const item of places[place] ?? []) sorted.push(item)
    if (work.isStepDone()) yield
  }
  return sorted
}

function* interleaved(
  [left, right]: readonly [List, List],
  before: (a: unknown, b: unknown) => boolean,
  work: Work,
): Generator<void, List> {
  const result: unknown[] = []
  let i = 0
  for (const item of right) {
    while (i < left.length && before(left[i], item)) {
      result.push(left[i++])
      if (work.isStepDone()) yield
    }
    result.push(item)
    if (work.isStepDone()) yield
  }
  return [...result, ...left.slice(i)]
}

/** 500 without a reason: Kubernetes does not distinguish these errors from internal ones. */
export const mergeFailed = (text: string): StatusError => new StatusError(500, '', text)

export const badArgument = (expected: unknown, actual: unknown): StatusError =>
  mergeFailed(`expected a ${goType(expected)}, but received a ${goType(actual)}`)

const noMergeKey = (item: unknown, mergeKey: string): StatusError =>
  mergeFailed(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`)

/** 422 for lists of lists (rules.md 5.16). */
const listOfLists = (): StatusError =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {
    causes: [{ message: 'lists of lists are not supported' }],
  })
