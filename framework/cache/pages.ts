import { type CacheItem, halvesOf, Page } from './page.ts'

/** Above all IDs. */
const last = '\u{10ffff}'

/** IDs in [from, to). */
export interface IdRange {
  readonly from: string
  readonly to: string
}

/** The IDs with this prefix, which ends with a slash or is empty. */
export const idsUnder = (prefix: string): IdRange =>
  prefix === '' ? { from: '', to: last } : { from: prefix, to: `${prefix.slice(0, -1)}0` }

/** The items [from, to) of one page. */
export interface PageRun<I extends CacheItem = CacheItem> {
  readonly page: Page<I>
  readonly from: number
  readonly to: number
}

interface Position<I> {
  readonly page: number
  readonly index: number
  readonly found: I | undefined
}

/** The index of the first item that is not before `id`. */
function lowerBound(items: readonly CacheItem[], id: string): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((items[middle]?.id ?? '') < id) low = middle + 1
    else high = middle
  }
  return low
}

/** The page that has `id` or would have it: the last that does not begin after it. */
function pageOf(pages: readonly Page[], id: string): number {
  let [low, high] = [0, pages.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((pages[middle]?.items[0]?.id ?? '') <= id) low = middle
    else high = middle - 1
  }
  return low
}

function positionOf<I extends CacheItem>(pages: readonly Page<I>[], id: string): Position<I> {
  const newest = pages.at(-1)?.items
  if (newest !== undefined && id > (newest.at(-1)?.id ?? ''))
    return { page: pages.length - 1, index: newest.length, found: undefined }
  const page = pageOf(pages, id)
  const items = pages[page]?.items ?? []
  const index = lowerBound(items, id)
  const item = items[index]
  return { page, index, found: item?.id === id ? item : undefined }
}

/** The items of a range, page by page, in order. The pages must not change meanwhile. */
function* runsOf<I extends CacheItem>(
  pages: readonly Page<I>[],
  { from, to }: IdRange,
): Generator<PageRun<I>> {
  const start = positionOf(pages, from)
  for (let i = start.page; i < pages.length; i++) {
    const page = pages[i]
    if (page === undefined) return
    const first = i === start.page ? start.index : 0
    const end = (page.items.at(-1)?.id ?? '') < to ? page.items.length : lowerBound(page.items, to)
    if (first < end) yield { page, from: first, to: end }
    if (end < page.items.length) return
  }
}

function countOf<I extends CacheItem>(pages: readonly Page<I>[], range: IdRange): number {
  let count = 0
  for (const { from, to } of runsOf(pages, range)) count += to - from
  return count
}

/** All items of one resource at one time; immutable. */
export class Snapshot<I extends CacheItem = CacheItem> {
  readonly pages: readonly Page<I>[]
  readonly size: number

  constructor(pages: readonly Page<I>[], size: number) {
    this.pages = pages
    this.size = size
  }

  /** The items of a range, page by page, in order. */
  runs(range: IdRange): Generator<PageRun<I>> {
    return runsOf(this.pages, range)
  }

  count(range: IdRange): number {
    return countOf(this.pages, range)
  }

  /** This snapshot with changed items; undefined removes one. Unchanged pages are shared. */
  with(changes: ReadonlyMap<string, I | undefined>): Snapshot<I> {
    const pages = new PageMap<I>(this)
    for (const [id, item] of changes) {
      if (item === undefined) pages.remove(id)
      else pages.put(item)
    }
    return pages.snapshot()
  }
}

/** A sorted map of items with snapshots: pages are copied when they change after a snapshot. */
export class PageMap<I extends CacheItem = CacheItem> {
  #pages: Page<I>[]
  #size: number
  #owner: object = {}
  /** A snapshot has the pages array. */
  #shared: boolean

  constructor(snapshot: Snapshot<I> = new Snapshot<I>([], 0)) {
    this.#pages = [...snapshot.pages]
    this.#size = snapshot.size
    this.#shared = false
  }

  get size(): number {
    return this.#size
  }

  get(id: string): I | undefined {
    return positionOf(this.#pages, id).found
  }

  /** The item with this ID, or one near it: neighbors share the strings of their clusters and namespaces. */
  near(id: string): I | undefined {
    const items = this.#pages[pageOf(this.#pages, id)]?.items ?? []
    return items[lowerBound(items, id)] ?? items.at(-1)
  }

  /** The items of a range as they are now. No page is shared for it, unlike for a snapshot. */
  within(range: IdRange): readonly I[] {
    const found: I[] = []
    for (const { page, from, to } of runsOf(this.#pages, range))
      for (const item of page.items.slice(from, to)) found.push(item)
    return found
  }

  count(range: IdRange): number {
    return countOf(this.#pages, range)
  }

  /** After `load`: the items of the newest page are contiguous already. */
  settle(): void {
    const newest = this.#pages.at(-1)
    if (newest !== undefined) newest.loose = 0
  }

  /** Joins the bytes of each page into one slab. */
  join(): void {
    for (const page of this.#pages) if (page.loose > 0) page.join()
  }

  snapshot(): Snapshot<I> {
    this.#owner = {}
    this.#shared = true
    return new Snapshot(this.#pages, this.#size)
  }

  put(item: I): void {
    this.#pages[this.load(item)]?.tidy()
  }

  /** Like `put`, for many contiguous items, followed by `settle`. Returns the page. */
  load(item: I): number {
    const { page, index, found } = positionOf(this.#pages, item.id)
    if (found === undefined) return this.#insert(item, page, index)
    this.#edit(page).splice(index, 1, item)
    this.#divide(page)
    return page
  }

  remove(id: string): void {
    const { page, index, found } = positionOf(this.#pages, id)
    if (found === undefined) return
    this.#size--
    const edited = this.#edit(page)
    edited.splice(index, 1)
    const next = this.#pages[page + 1]
    if (edited.items.length === 0) this.#pages.splice(page, 1)
    else if (next !== undefined && edited.isSmallWith(next))
      this.#replace(page, 2, [[...edited.items, ...next.items]])
  }

  #insert(item: I, page: number, index: number): number {
    this.#size++
    const there = this.#pages[page]
    const append = page === this.#pages.length - 1 && index === there?.items.length
    if (there === undefined || (append && there.isFull)) {
      this.#replace(page + 1, 0, [[item]])
      return page + 1
    }
    this.#edit(page).splice(index, 0, item)
    this.#divide(page)
    return page
  }

  #divide(page: number): void {
    const there = this.#pages[page]
    if (there?.isTooLarge) this.#replace(page, 1, halvesOf(there.items))
  }

  #replace(page: number, count: number, runs: readonly I[][]): void {
    this.#unshare()
    this.#pages.splice(page, count, ...runs.map(items => new Page(this.#owner, items, items.length)))
  }

  #unshare(): void {
    if (this.#shared) this.#pages = [...this.#pages]
    this.#shared = false
  }

  #edit(page: number): Page<I> {
    this.#unshare()
    const there = this.#pages[page] ?? new Page<I>(this.#owner, [], 0)
    if (there.owner === this.#owner) return there
    const copy = new Page(this.#owner, [...there.items], there.loose)
    this.#pages[page] = copy
    return copy
  }
}
