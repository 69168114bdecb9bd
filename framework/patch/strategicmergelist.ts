import { goText, goType } from '../json/gotext.ts'
import { isMembers } from '../json/values.ts'
import { StatusError } from '../meta/errors.ts'
import { jsonType } from '../wire/metadata.ts'

type Members = Readonly<Record<string, unknown>>
type List = readonly unknown[]

/** How the items of a list are identified and merged. */
export interface ListMerging {
  /** Empty for lists of scalars. */
  readonly mergeKey: string
  mergeItem(live: Members, change: Members): Members
}

/** Merges two lists by key, or as sets of scalars; items of the patch are in its order. */
export function mergeList(live: List, change: List, merging: ListMerging): List {
  if (live.length === 0 && change.length === 0) return live
  if (kindOf(live, change) !== 'object') {
    return arranged([...new Set([...live, ...change])], { wanted: change, live, mergeKey: '' })
  }
  const { mergeKey } = merging
  if (mergeKey === '') throw mergeFailed('cannot merge lists without merge key for struct')
  const [left, changes] = withoutSpecialItems(live as Members[], change as Members[], mergeKey)
  return arranged(mergeItems(left, changes, merging), { wanted: changes, live: left, mergeKey })
}

/** `$deleteFromPrimitiveList`. */
export function deleteScalars(live: List, deleted: List): List {
  if (live.length > 0 || deleted.length > 0) kindOf(live, deleted)
  const gone = new Set(deleted)
  return live.filter(item => !gone.has(item))
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
  plain(value: unknown): unknown
}

export function orderedList({ live, change, wanted }: Ordered, merging: OrderedMerging): List {
  const { mergeKey } = merging
  checkOrder(change ?? [], wanted, mergeKey)
  const merged = contentOf({ live, change, wanted }, merging)
  kindOf(live ?? [], change ?? [])
  const isKeyed = merging.isMerged && mergeKey !== ''
  const order = isKeyed ? orderOf(live ?? [], change ?? [], mergeKey) : (live ?? [])
  return arranged(merged, { wanted, live: order, mergeKey })
}

/** The live order, followed by new items in place of deleted ones. */
function orderOf(live: List, change: List, mergeKey: string): List {
  const gone = new Set(change.filter(isDeleted).map(item => keyOf(item, mergeKey)))
  const kept = live.filter(item => !gone.has(keyOf(item, mergeKey)))
  const known = new Set(kept.map(item => keyOf(item, mergeKey)))
  const added = change.filter(item => !hasDirective(item) && !known.has(keyOf(item, mergeKey)))
  return [...kept, ...added.slice(0, live.length - kept.length)]
}

const isDeleted = (item: unknown): boolean => isMembers(item) && item.$patch === 'delete'

function contentOf({ live, change }: Ordered, merging: OrderedMerging): List {
  if (change === undefined) return live ?? []
  if (live === undefined) return merging.plain(change) as List
  return merging.isMerged ? mergeList(live, change, merging) : change
}

/** The type of all items. Throws 422 for lists of lists, 500 for items of different types. */
function kindOf(...lists: readonly List[]): string {
  const [first, ...others] = lists.flat(1)
  if (first === undefined) throw mergeFailed('no elements in any of the given slices')
  const type = goType(first)
  if (Array.isArray(first)) throw listOfLists()
  if (first === null || others.some(item => goType(item) !== type)) {
    throw mergeFailed(`list element types are not identical: ${goText(lists)}`)
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
function withoutSpecialItems(
  live: readonly Members[],
  change: readonly Members[],
  mergeKey: string,
): readonly [readonly Members[], readonly Members[]] {
  const special = change.filter(item => Object.hasOwn(item, '$patch'))
  const ordinary = change.filter(item => !Object.hasOwn(item, '$patch'))
  const deleted = special.filter(item => isDeletion(item)).map(item => keyOf(item, mergeKey))
  if (deleted.length < special.length) return [ordinary, []]
  const gone = new Set(deleted)
  return [live.filter(item => !gone.has(item[mergeKey])), ordinary]
}

/** Whether the directive deletes, or else replaces; throws for other directives. */
function isDeletion(item: Members): boolean {
  const what = item.$patch
  if (what === 'delete' || what === 'replace') return what === 'delete'
  if (what === 'merge') throw mergeFailed('merging lists cannot yet be specified in the patch')
  throw mergeFailed(`unknown patch type: ${goText(what)} in map: ${goText(item)}`)
}

function mergeItems(
  live: readonly Members[],
  changes: readonly Members[],
  { mergeKey, mergeItem }: ListMerging,
): List {
  const merged = [...live]
  // Of equal keys the first one counts.
  const places = new Map(live.map((item, at) => [item[mergeKey], at] as const).toReversed())
  for (const change of changes) {
    const key = keyOf(change, mergeKey)
    const at = places.get(key) ?? merged.length
    const found = merged[at]
    merged[at] = found === undefined ? change : mergeItem(found, change)
    places.set(key, at)
  }
  return merged
}

/** The items of a patch must be in the order that it requests, except for deletions. */
function checkOrder(change: List, wanted: List, mergeKey: string): void {
  if (wanted.length === 0 || change.length === 0) return
  const items = mergeKey === '' ? change : change.filter(item => !isDeleted(membersOf(item)))
  let at = 0
  for (const item of wanted) {
    while (hasDirective(items[at])) at++
    if (at < items.length && keyOf(items[at], mergeKey) === keyOf(item, mergeKey)) at++
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
}

/** Items of the patch in its order, other items in theirs, each before the items that it was before (rules.md 5.17). */
function arranged(items: List, { wanted, live, mergeKey }: Arrangement): List {
  const [wantedAt, liveAt] = [positions(wanted, mergeKey), positions(live, mergeKey)]
  const key = (item: unknown): unknown => keyOf(item, mergeKey)
  const by = (at: Map<unknown, number>) => (a: unknown, b: unknown) =>
    (at.get(key(a)) ?? items.length) - (at.get(key(b)) ?? items.length)
  const named = items.filter(item => wantedAt.has(key(item))).sort(by(wantedAt))
  const others = items.filter(item => !wantedAt.has(key(item))).sort(by(liveAt))
  const before = (a: unknown, b: unknown): boolean => {
    const [x, y] = [liveAt.get(key(a)), liveAt.get(key(b))]
    return x !== undefined && y !== undefined && x < y
  }
  return interleaved(others, named, before)
}

function positions(list: List, mergeKey: string): Map<unknown, number> {
  const at = new Map<unknown, number>()
  list.forEach((item, i) => {
    const key = keyOf(item, mergeKey)
    if (!at.has(key)) at.set(key, i)
  })
  return at
}

function interleaved(left: List, right: List, before: (a: unknown, b: unknown) => boolean): List {
  const result: unknown[] = []
  let i = 0
  for (const item of right) {
    while (i < left.length && before(left[i], item)) result.push(left[i++])
    result.push(item)
  }
  return [...result, ...left.slice(i)]
}

/** 500 without a reason: Kubernetes does not distinguish these errors from internal ones. */
export const mergeFailed = (text: string): StatusError => new StatusError(500, '', text)

export const badArgument = (expected: unknown, actual: unknown): StatusError =>
  mergeFailed(`expected a ${goType(expected)}, but received a ${goType(actual)}`)

export const noMergeKey = (item: unknown, mergeKey: string): StatusError =>
  mergeFailed(`map: ${goText(item)} does not contain declared merge key: ${mergeKey}`)

/** 422 for lists of lists (rules.md 5.16). */
export const listOfLists = (): StatusError =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {
    causes: [{ message: 'lists of lists are not supported' }],
  })
