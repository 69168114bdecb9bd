import type { ObjectMeta } from '../../framework/contract/item.ts'
import { canonicalJson } from '../../framework/json/json.ts'
import type { ObjectKey } from '../../framework/meta/object.ts'
import type { Texts } from '../../framework/wire/encode.ts'
import { relabel } from '../../framework/wire/relabel.ts'
import type { StoredValue } from '../store/store.ts'
import { Arena, atRevision, type EncodedSlice, type StoredResource, shapeIn } from './codec.ts'
import { CachedItem } from './item.ts'

/** A stored object and its key in the cache. */
export interface Loaded {
  readonly key: ObjectKey
  readonly stored: StoredValue
}

/** Labels that are presented but not stored. */
export interface Decorator {
  /** The prefix of all its labels. Stored labels with the prefix are not presented. */
  readonly prefix: string
  /** From memory; `meta` has the stored labels. undefined: no labels. */
  labels(resource: StoredResource, meta: ObjectMeta): Texts | undefined
}

const none: Texts = Object.freeze({})
const mostShared = 4_096
const labelsKey = '"labels":'
const slabSize = 8 * 1_024

const size = (texts: Texts): number => Object.keys(texts).length
const equal = (a: Texts, b: Texts): boolean =>
  size(a) === size(b) && Object.entries(a).every(([key, value]) => b[key] === value)

/** Makes items of stored values. */
export class Builder {
  readonly #arena = new Arena(slabSize)
  #decorator: Decorator | undefined
  /** Label sets by their JSON: equal ones are one object. */
  #shared = new Map<string, Texts>()

  /** Sets the decorator whose labels new items get. */
  use(decorator: Decorator): void {
    this.#decorator = decorator
  }

  /** Copies the bytes of the item into `arena`. */
  build(
    resource: StoredResource,
    { key, stored: { value, modified } }: Loaded,
    arena = this.#arena,
  ): CachedItem {
    const place = arena.present(value, modified)
    const item = new CachedItem(key, place, {
      revision: modified,
      modified,
      labels: this.#labels(place),
      shape: shapeIn(value),
    })
    return this.redecorate(resource, item, modified) ?? item
  }

  /** The item with the current labels, presented at `revision`; undefined when they are the same. */
  redecorate(resource: StoredResource, item: CachedItem, revision: number): CachedItem | undefined {
    const labels = this.#decorated(resource, item)
    return labels === item.labels || equal(labels, item.labels)
      ? undefined
      : this.#relabelled(item, labels, revision)
  }

  #relabelled(item: CachedItem, labels: Texts, revision: number): CachedItem {
    const encoded = relabel(item, { labels })
    const place = revision === item.revision ? encoded : atRevision(encoded, revision)
    const { modified, shape } = item
    return new CachedItem(item, place, { revision, modified, labels, shape })
  }

  #decorated(resource: StoredResource, item: CachedItem): Texts {
    const decorator = this.#decorator
    if (decorator === undefined) return item.labels
    const own = Object.entries(item.labels).filter(([label]) => !label.startsWith(decorator.prefix))
    const stored = own.length === size(item.labels) ? item.labels : Object.fromEntries(own)
    const added = decorator.labels(resource, item.metaWith(stored))
    return added === undefined || size(added) === 0 ? stored : this.#share({ ...stored, ...added })
  }

  #labels({ bytes, offsets, start = 0 }: EncodedSlice): Texts {
    const { labels, version } = offsets
    if (labels === version) return none
    const json = bytes.toString('utf8', start + labels + labelsKey.length, start + version - 1)
    return this.#shared.get(json) ?? this.#share(JSON.parse(json), json)
  }

  /** `json` is the canonical JSON of the labels. */
  #share(labels: Texts, json = canonicalJson(labels)): Texts {
    const known = this.#shared.get(json)
    if (known !== undefined) return known
    if (this.#shared.size >= mostShared) this.#shared = new Map()
    this.#shared.set(json, labels)
    return labels
  }
}
