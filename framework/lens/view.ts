import { after } from '../async/awaitable.ts'
import type { RequestContext } from '../contract/context.ts'
import { fieldOf, type Item } from '../contract/item.ts'
import type { ItemList, ListQuery, ResourceStorage, Selection, WriteOptions } from '../contract/storage.ts'
import { methodNotSupported, notFound, notServed, type StatusError } from '../meta/errors.ts'
import type { GroupVersionResource, KubeObject, ObjectKey } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import { matchesFields, matchesLabels } from '../selectors/selectors.ts'
import { type CheckedLens, checkedLens } from './checkedlens.ts'
import type { View } from './lens.ts'
import { originalStorage } from './privatestorage.ts'
import { opened, sealedList, tokensOf } from './sealedtoken.ts'
import { listThrough, type SelectableFields, seenWith, watchThrough } from './sight.ts'

/**
 * A storage that shows the objects of another one through the lenses of a view. Unchanged objects are passed as the same
 * arrays and bytes. Hidden objects are 404; writes through a read-only lens are 405. Selectors of clients match what the
 * lens shows. `fields` are the selectable fields of the kind whose values are computed; others are paths.
 *
 * ```ts
 * const storage = viewOf(configMaps.storage, ({ params }) => ({
 *   narrow: query => ({ ...query, labels: andLabels(query.labels, labelEquals('team', params.team ?? '')) }),
 * }))
 * ```
 */
export function viewOf<P extends Params>(
  given: ResourceStorage<P>,
  view: View<P>,
  fields: SelectableFields = {},
): ResourceStorage<P> {
  const storage = originalStorage(given)
  const lensOf = checkedLens(view)
  return {
    get: (ctx, key) => after(storage.get(ctx, key), item => visible(item, lensOf(ctx), ctx)),
    list: (ctx, query) => listedThrough({ lens: lensOf(ctx), fields, storage }, ctx, query),
    watch(ctx, query) {
      const { sight, below } = seenWith(lensOf(ctx), query, fields)
      const watch = storage.watch(ctx, below)
      return sight === undefined ? watch : watchThrough(watch, sight)
    },
    async create(ctx, key, object, options) {
      const lens = writable(lensOf(ctx), ctx)
      const accepted = lens.accepted(object)
      return lens.rewritten(await storage.create(ctx, key, accepted, passedOn(options, lens)))
    },
    async update(ctx, key, change, options) {
      const lens = writable(lensOf(ctx), ctx)
      const inner = async (stored: Item): Promise<KubeObject> => {
        const current = visible(stored, lens, ctx)
        return lens.accepted(await change(current), current, stored)
      }
      return lens.rewritten(await storage.update(ctx, key, inner, passedOn(options, lens)))
    },
    async delete(ctx, key, check, options) {
      const lens = writable(lensOf(ctx), ctx)
      const inner = (stored: Item): void | Promise<void> => check(visible(stored, lens, ctx))
      const deletion = await storage.delete(ctx, key, inner, options)
      return { ...deletion, item: lens.rewritten(deletion.item) }
    },
  }
}

/** A list through a lens. */
interface LensedList<P extends Params> {
  readonly lens: CheckedLens<P>
  readonly fields: SelectableFields
  readonly storage: Pick<ResourceStorage<P>, 'list'>
}

/** Where objects are hidden, the tokens of the list are sealed. */
function listedThrough<P extends Params>(
  { lens, fields, storage }: LensedList<P>,
  ctx: RequestContext<P>,
  query: ListQuery,
): ItemList {
  const tokens = tokensOf(ctx)
  const { sight, below } = seenWith(lens, lens.filters ? opened(tokens, query) : query, fields)
  if (sight === undefined) return storage.list(ctx, below)
  const seen = listThrough(storage.list(ctx, below), sight)
  return lens.filters ? sealedList(tokens, seen) : seen
}

function writable<P extends Params>(lens: CheckedLens<P>, { info }: RequestContext<P>): CheckedLens<P> {
  if (!lens.rewrites || lens.accepts) return lens
  throw info.isResource ? methodNotSupported(info, info.verb) : notServed()
}

/** A patch refers to the object that the client sees: behind a lens with `accept` it is dropped. */
function passedOn<P extends Params>({ patch, ...options }: WriteOptions, lens: CheckedLens<P>): WriteOptions {
  return patch === undefined || lens.accepts ? options : { ...options, patch }
}

/** The item as the client sees it; 404 for items outside the view. */
function visible<P extends Params>(item: Item, lens: CheckedLens<P>, ctx: RequestContext<P>): Item {
  if (!isSelected(item, lens.narrowed({ cluster: ctx.cluster })) || !lens.isVisible(item)) {
    throw outside(item.key, ctx)
  }
  return lens.rewritten(item)
}

function outside<P extends Params>({ name }: ObjectKey, { info }: RequestContext<P>): StatusError {
  return info.isResource ? notFound({ group: info.group, resource: info.resource, name }) : notServed()
}

/** The selection of `narrow`, applied to a single object. */
function isSelected(item: Item, { cluster, namespace = '', labels, fields }: Selection): boolean {
  const { key } = item
  return (
    (cluster === '*' || cluster === key.cluster) &&
    (namespace === '' || namespace === key.namespace) &&
    (labels === undefined || matchesLabels(labels, item.meta.labels)) &&
    matchesFields(fields, field => fieldOf(item, field))
  )
}

/** A read-only storage: writes return 405, also if no endpoint offers them. */
export function readOnly<P extends Params>(
  about: Pick<GroupVersionResource, 'group' | 'resource'>,
  reads: Pick<ResourceStorage<P>, 'get' | 'list' | 'watch'>,
): ResourceStorage<P> {
  const refuse = (verb: string) => async (): Promise<never> => {
    throw methodNotSupported(about, verb)
  }
  return { ...reads, create: refuse('create'), update: refuse('update'), delete: refuse('delete') }
}
