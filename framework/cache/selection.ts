import { PickedBatch } from '../contract/batch.ts'
import type { Item } from '../contract/item.ts'
import type { ItemBatch, Selection } from '../contract/storage.ts'
import { badRequest } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'
import { fieldMatcher, labelMatcher } from '../selectors/matcher.ts'
import { formatFieldSelector, formatLabelSelector, requiredField } from '../selectors/selectors.ts'
import type { CacheItem } from './page.ts'
import { type IdRange, idsUnder, type PageRun } from './pages.ts'

/** The kind that a reader requested: that of bookmarks, and its selectable fields. */
export interface ServedKind {
  readonly apiVersion: string
  readonly kind: string
  /** In addition to metadata.name and metadata.namespace, as in `ApiResource.selectableFields`. */
  readonly fields?: Readonly<Record<string, (object: KubeObject) => string>>
}

export type Matches = (item: CacheItem) => boolean

/** The range of the selected items by cluster, namespace and name; `matcherOf` filters it. */
export function rangeOf({ cluster, namespace, fields }: Selection): IdRange {
  if (cluster === '*') return idsUnder('')
  if (!namespace) return idsUnder(`${cluster}/`)
  const name = requiredField(fields, 'metadata.name')
  const prefix = `${cluster}/${namespace}/`
  return name === undefined ? idsUnder(prefix) : { from: prefix + name, to: `${prefix + name}\0` }
}

/** The part of the range after an ID. A client can make a continue token with an ID in front of the range, of other clusters. */
export function behind({ from, to }: IdRange, id: string): IdRange {
  const next = `${id}\0`
  return { from: next < from ? from : next, to }
}

function fieldOf(item: CacheItem, field: string, kind: ServedKind): string {
  if (field === 'metadata.name') return item.name
  if (field === 'metadata.namespace') return item.namespace
  return kind.fields?.[field]?.(item.object) ?? ''
}

function checkFields({ fields }: Selection, kind: ServedKind): void {
  const known = ['metadata.name', 'metadata.namespace', ...Object.keys(kind.fields ?? {})]
  const unknown = fields?.requirements.find(({ field }) => !known.includes(field))
  if (unknown !== undefined) throw badRequest(`field label not supported: ${unknown.field}`)
}

/** Whether an item of the cluster is selected; undefined if all are. Throws 400 for unknown fields. */
export function matcherOf(selection: Selection, kind: ServedKind): Matches | undefined {
  const { namespace, labels, fields } = selection
  checkFields(selection, kind)
  const labelled = labels?.requirements.length ? labelMatcher(labels) : undefined
  const withFields = fields?.requirements.length ? fieldMatcher(fields) : undefined
  if (!namespace && labelled === undefined && withFields === undefined) return undefined
  return item =>
    (!namespace || item.namespace === namespace) &&
    labelled?.(item.labels) !== false &&
    withFields?.(field => fieldOf(item, field, kind)) !== false
}

/** Equal for selections of the same objects within one cluster. */
export const nameOf = ({ namespace, labels, fields }: Selection): string =>
  JSON.stringify([
    namespace ?? '',
    labels === undefined ? '' : formatLabelSelector(labels),
    fields === undefined ? '' : formatFieldSelector(fields),
  ])

/** Whether a selector may exclude objects: then the remaining count is unknown (rules.md 4.16). */
export const isFiltered = ({ labels, fields }: Selection): boolean =>
  Boolean(labels?.requirements.length) || Boolean(fields?.requirements.length)

/** A run of neighbors, whose bytes are contiguous. */
class RunBatch implements ItemBatch {
  readonly length: number
  readonly #run: PageRun

  constructor(run: PageRun) {
    this.#run = run
    this.length = run.to - run.from
  }

  get bytes(): Buffer {
    return this.#run.page.bytes(this.#run.from, this.#run.to)
  }

  get untyped(): Buffer | undefined {
    return this.#run.page.untyped(this.#run.from, this.#run.to)
  }

  get annotationsAt(): Uint32Array | undefined {
    const { page, from, to } = this.#run
    const at = new Uint32Array(2 * this.length)
    let start = 0
    for (let i = from; i < to; i++) {
      const { offsets, length = 0 } = page.items[i] ?? {}
      if (offsets === undefined) return undefined
      at[2 * (i - from)] = start + offsets.metadata
      at[2 * (i - from) + 1] = start + offsets.labels
      start += length + 1
    }
    return at
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.#run.page.items.slice(this.#run.from, this.#run.to)[Symbol.iterator]()
  }
}

/** At most `limit` matching items of a run, and the last item that was examined. */
export function take(
  run: PageRun,
  limit: number,
  matches: ((item: CacheItem) => boolean) | undefined,
): { readonly batch: ItemBatch; readonly last: CacheItem | undefined } {
  const { page, from } = run
  if (matches === undefined) {
    const to = Math.min(run.to, from + limit)
    return { batch: new RunBatch({ page, from, to }), last: page.items[to - 1] }
  }
  const picked: CacheItem[] = []
  let to = from
  for (; to < run.to && picked.length < limit; to++) {
    const item = page.items[to]
    if (item !== undefined && matches(item)) picked.push(item)
  }
  const all = picked.length === to - from
  return { batch: all ? new RunBatch({ page, from, to }) : new PickedBatch(picked), last: page.items[to - 1] }
}
