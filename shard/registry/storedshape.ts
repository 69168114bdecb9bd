import type { Item } from '../../framework/contract/item.ts'
import { versionOf } from '../../framework/meta/object.ts'
import { completed, shapeNumber } from '../../openapi/compile.ts'
import type { KindDefinition } from '../../openapi/definitions/definition.ts'
import { CachedItem, itemAs } from '../cache/item.ts'
import type { ResourceCache } from '../cache/resource.ts'

/** How stored objects come to look as their definition says now, whatever it said when they were written. */
export interface Shape {
  /** Kept beside new objects. */
  readonly number: number
  /** Whether every object that is or was there is in shape. */
  covers(cache: ResourceCache): boolean
  /** Defaulted and pruned by the schema of its stored version; the same item when it is in shape. */
  of<T extends Item>(item: T): T | CachedItem
}

const shapes = new WeakMap<KindDefinition, Shape>()

export function shapeOf(definition: KindDefinition): Shape {
  const known = shapes.get(definition) ?? createShape(definition)
  shapes.set(definition, known)
  return known
}

/** Schemas are hashed when the first object is read or written. */
function createShape({ versions }: KindDefinition): Shape {
  const storage = versions.find(version => version.storage)
  const isRight = (shape: number): boolean =>
    shape === 0 || versions.some(version => shapeNumber(version) === shape)
  const reshape = (item: CachedItem): CachedItem => {
    const { object } = item
    const name = versionOf(object.apiVersion)
    const version = versions.find(each => each.name === name)
    const next = version === undefined ? object : completed(version.schema, object)
    return next === object ? item : itemAs(item, next)
  }
  const reshaped = new WeakMap<CachedItem, CachedItem>()
  return {
    get number() {
      return storage === undefined ? 0 : shapeNumber(storage)
    },
    covers: ({ shapes: seen }) => [...seen].every(isRight),
    of(item) {
      if (!(item instanceof CachedItem) || isRight(item.shape)) return item
      const known = reshaped.get(item) ?? reshape(item)
      reshaped.set(item, known)
      return known
    },
  }
}
