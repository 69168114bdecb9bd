import { type Awaitable, after, attempt } from '../async/awaitable.ts'
import type { RequestContext } from '../contract/context.ts'
import { encodedOf, type Item, type ItemEvent, itemFrom } from '../contract/item.ts'
import type { ItemList, ItemWatch, ResourceStorage, Selection, WriteOptions } from '../contract/storage.ts'
import { badRequest, notFound, notServed } from '../meta/errors.ts'
import type { KubeObject, Metadata, ObjectKey } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import { type FieldRequirement, fieldEquals } from '../selectors/selectors.ts'
import { withMetadata } from '../wire/encode.ts'
import { CheckedNames, type NameMapping } from './names.ts'
import { originalStorage } from './privatestorage.ts'
import { renamedError } from './renamederror.ts'
import { opened, sealedList, tokensOf } from './sealedtoken.ts'

/** How a view names the objects of a resource, and their namespaces; absent: as they are stored. */
export interface Renaming {
  readonly names?: NameMapping
  readonly namespaces?: NameMapping
}

/**
 * A storage that shows the objects of another one under other names and in other namespaces, also for writes. Objects without a
 * name in the view are hidden. Selectors, errors, events and generateName have the view's names. `renaming` is called once for each
 * storage call. Lists are in the order of the stored names. References in other objects, such as owner references, are not changed.
 *
 * ```ts
 * const storage = renamed(configMaps.storage, ({ params }) => ({ names: prefixed(`${params.team}-`) }))
 * ```
 */
export function renamed<P extends Params>(
  given: ResourceStorage<P>,
  renaming: (ctx: RequestContext<P>) => Renaming,
): ResourceStorage<P> {
  const storage = originalStorage(given)
  const of: NamesOf<P> = ctx => new Renamer(ctx, renaming(ctx))
  return { ...readsOf(storage, of), ...writesOf(storage, of) }
}

type NamesOf<P extends Params> = (ctx: RequestContext<P>) => Renamer<P>

function readsOf<P extends Params>(
  storage: ResourceStorage<P>,
  of: NamesOf<P>,
): Pick<ResourceStorage<P>, 'get' | 'list' | 'watch'> {
  return {
    get(ctx, key) {
      const names = of(ctx)
      const stored = names.storedKey(key)
      return names.failing(key, () => after(storage.get(ctx, stored), item => names.shown(item)))
    },
    list(ctx, query) {
      const names = of(ctx)
      const tokens = tokensOf(ctx)
      return sealedList(tokens, names.list(storage.list(ctx, names.selection(opened(tokens, query)))))
    },
    watch(ctx, query) {
      const names = of(ctx)
      return names.watch(storage.watch(ctx, names.selection(query)))
    },
  }
}

function writesOf<P extends Params>(
  storage: ResourceStorage<P>,
  of: NamesOf<P>,
): Pick<ResourceStorage<P>, 'create' | 'update' | 'delete'> {
  return {
    create: async (ctx, key, object, options) => {
      const names = of(ctx)
      const [at, stored] = [names.storedKey(key), names.storedObject(object)]
      return names.failing(key, async () =>
        names.shown(await storage.create(ctx, at, stored, ownWrite(options))),
      )
    },
    update: async (ctx, key, change, options) => {
      const names = of(ctx)
      const stored = names.storedKey(key)
      const inner = (current: Item): Awaitable<KubeObject> =>
        names.ofClient(() => after(change(names.shown(current)), object => names.storedObject(object)))
      return names.failing(key, async () =>
        names.shown(await storage.update(ctx, stored, inner, ownWrite(options))),
      )
    },
    delete: async (ctx, key, check, options) => {
      const names = of(ctx)
      const stored = names.storedKey(key)
      const inner = (current: Item): Awaitable<void> => names.ofClient(() => check(names.shown(current)))
      return names.failing(key, async () => {
        const deletion = await storage.delete(ctx, stored, inner, options)
        return { ...deletion, item: names.shown(deletion.item) }
      })
    },
  }
}

/** A patch has the names of the view: its result is written instead. */
const ownWrite = ({ patch: _, ...options }: WriteOptions): WriteOptions => options

/** A name that no object has: path segments cannot be `..`. */
const noName = '..'

/** The names of one request. */
class Renamer<P extends Params> {
  readonly #ctx: RequestContext<P>
  readonly #names: CheckedNames
  readonly #namespaces: CheckedNames
  /** Errors that have the names of the view already. */
  readonly #own = new WeakSet<object>()

  constructor(ctx: RequestContext<P>, { names, namespaces }: Renaming) {
    this.#ctx = ctx
    this.#names = new CheckedNames(names)
    this.#namespaces = new CheckedNames(namespaces)
  }

  /** The result of `run`, or its error with the names of the view. */
  failing<T>(key: ObjectKey, run: () => Awaitable<T>): Awaitable<T> {
    return attempt(run, error => {
      const isOwn = error instanceof Error && this.#own.has(error)
      throw isOwn ? error : renamedError(error, this.#names, this.#namespaces, key)
    })
  }

  /** The result of `run`, which sees the names of the view: its errors are not renamed. */
  ofClient<T>(run: () => Awaitable<T>): Awaitable<T> {
    return attempt(run, error => {
      if (error instanceof Error) this.#own.add(error)
      throw error
    })
  }

  /** Throws 404 for keys that the view does not have. */
  storedKey(key: ObjectKey): ObjectKey {
    const [name, namespace] = [this.#names.stored(key.name), this.#namespaces.stored(key.namespace)]
    if (name === undefined || namespace === undefined) throw this.#missing(key.name)
    return { ...key, name, namespace }
  }

  /** Throws 404 for an object that the view does not have. */
  shown(item: Item): Item {
    const shown = this.#seen(item)
    if (shown === undefined) throw this.#missing(this.#ctx.info.isResource ? this.#ctx.info.name : '')
    return shown
  }

  #missing(name: string): Error {
    const { info } = this.#ctx
    return info.isResource ? notFound({ group: info.group, resource: info.resource, name }) : notServed()
  }

  /** The item in the view; undefined for objects that it does not have. */
  #seen(item: Item): Item | undefined {
    const { key } = item
    const [name, namespace] = [this.#names.shown(key.name), this.#namespaces.shown(key.namespace)]
    if (name === undefined || namespace === undefined) return undefined
    if (name === key.name && namespace === key.namespace) return item
    const renamed = withMetadata(encodedOf(item), ({ generateName, ...metadata }) => {
      const prefix = generateName && this.#names.shown(generateName)
      return {
        ...metadata,
        name,
        ...(namespace !== '' && { namespace }),
        ...(prefix !== undefined && { generateName: prefix }),
      }
    })
    return itemFrom(renamed, { ...key, name, namespace })
  }

  /** The object with its stored names. Throws 404 for names, and 400 for a generateName, that the view does not have. */
  storedObject(object: KubeObject): KubeObject {
    const { name, namespace, generateName, ...metadata } = object.metadata
    const stored: Metadata = {
      ...metadata,
      ...(name !== undefined && { name: this.#found(this.#names.stored(name), name) }),
      ...(namespace !== undefined && {
        namespace: this.#found(this.#namespaces.stored(namespace), name ?? ''),
      }),
      ...(generateName !== undefined && { generateName: this.#storedPrefix(generateName) }),
    }
    return { ...object, metadata: stored }
  }

  #found(stored: string | undefined, shown: string): string {
    if (stored === undefined) throw this.#missing(shown)
    return stored
  }

  #storedPrefix(shown: string): string {
    const stored = this.#names.stored(shown)
    if (stored === undefined)
      throw badRequest('metadata.generateName is not supported by this view: set metadata.name')
    return stored
  }

  /** The selection of stored objects: an unknown namespace or name selects none. */
  selection<Q extends Selection>(query: Q): Q {
    const { namespace = '', fields } = query
    const stored = this.#namespaces.stored(namespace)
    const requirements = (fields?.requirements ?? []).flatMap(each => this.#requirement(each))
    if (stored === undefined) requirements.push(...fieldEquals('metadata.name', noName).requirements)
    return {
      ...query,
      ...(stored !== undefined && stored !== '' && { namespace: stored }),
      ...((fields !== undefined || requirements.length > 0) && { fields: { requirements } }),
    }
  }

  #requirement(requirement: FieldRequirement): readonly FieldRequirement[] {
    const { field, operator, value } = requirement
    const isName = field === 'metadata.name'
    if ((!isName && field !== 'metadata.namespace') || value === '') return [requirement]
    const stored = (isName ? this.#names : this.#namespaces).stored(value)
    if (stored !== undefined) return [{ field, operator, value: stored }]
    return operator === '!=' ? [] : [{ field: 'metadata.name', operator, value: noName }]
  }

  async *list(list: ItemList): ItemList {
    try {
      let next = await list.next()
      for (; !next.done; next = await list.next())
        yield Array.from(next.value).flatMap(item => this.#seen(item) ?? [])
      return next.value
    } finally {
      await list.return({ resourceVersion: '' })
    }
  }

  async *watch(watch: ItemWatch): ItemWatch {
    for await (const events of watch) {
      const seen = events.flatMap(event => this.#event(event) ?? [])
      if (seen.length > 0) yield seen
    }
  }

  #event(event: ItemEvent): ItemEvent | undefined {
    if (event.type === 'BOOKMARK') return event
    const item = this.#seen(event.item)
    const previous = event.previous && this.#seen(event.previous)
    return item && { type: event.type, item, ...(previous && { previous }) }
  }
}
