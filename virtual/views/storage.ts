import { after, pacedMap } from '../../framework/async/awaitable.ts'
import { contextWith } from '../../framework/contract/context.ts'
import {
  type Item,
  type ListQuery,
  notFound,
  type ObjectKey,
  type RequestContext,
  type ResourceStorage,
  type WatchQuery,
} from '../../framework/index.ts'
import { tokensOf } from '../../framework/lens/sealedtoken.ts'
import { apiVersionOf } from '../../framework/meta/object.ts'
import { type Listing, listShown } from '../shared/listing/list.ts'
import type { WatchCosts } from '../shared/watching/watchcosts.ts'
import type { ResourcePlan } from './plan.ts'
import { quietReads } from './quietreads.ts'
import { selectionOf } from './selectors.ts'
import { ViewSight, type ViewSightParts } from './sight.ts'
import { type ShownWatching, watchShown } from './watch.ts'
import { createThrough, deleteThrough, updateThrough, type ViewWrites } from './writes.ts'

/** What the storages of one View share. */
export interface ViewStorage extends ViewSightParts {
  /** The name of the View, for errors. */
  readonly name: string
  /** The only logical cluster of the source; undefined: all. */
  readonly only?: string
  /** Changes with the View; continue tokens are valid for one state of it. */
  readonly state: string
  readonly since: number
  readonly costs: WatchCosts
  readonly changed: AbortSignal
}

/** The objects of the source that a View shows. Writes apply to shown objects only, which have to stay in the View. */
export function viewStorage(of: ViewStorage): ResourceStorage {
  const view = of.plan.hide.length === 0 ? of : withQuietReads(of)
  const { storage } = view.plan.source
  const writesOf = (ctx: RequestContext): ViewWrites => {
    const sight = new ViewSight(view, ctx.user)
    return { ctx: writingAs(view, ctx), sight, view, visible: item => visible(view, sight, item) }
  }
  return {
    get: (ctx, key) =>
      after(storage.get(ctx, key), item => visible(view, new ViewSight(view, ctx.user), item)),
    list: (ctx, query) => listOf(view, ctx, query),
    watch: (ctx, query) => watchOf(view, ctx, query),
    create: (ctx, key, object, options) => createThrough(writesOf(ctx), key, object, options),
    update: (ctx, key, change, options) => updateThrough(writesOf(ctx), key, change, options),
    delete: (ctx, key, check, options) => deleteThrough(writesOf(ctx), key, check, options),
  }
}

/**
 * Admission decides by the permissions of the user what a write may grant: roles, bindings to exports, Views. Those with which a View
 * acts in its workspace would allow everything. For a View of an export, the admission of the export decides.
 */
const writingAs = ({ only }: ViewStorage, ctx: RequestContext): RequestContext =>
  only === undefined ? ctx : contextWith(ctx, { actAs: ctx.user })

function withQuietReads(view: ViewStorage): ViewStorage {
  const { plan } = view
  const { source } = plan
  return { ...view, plan: { ...plan, source: { ...source, storage: quietReads(source.storage) } } }
}

/** The item as the View shows it; 404 for hidden items. */
function visible(view: ViewStorage, sight: ViewSight, item: Item): Item {
  const shown = isInSource(view, item.key) ? sight.shown(item) : undefined
  const { group, names } = view.plan.source
  if (shown === undefined) throw notFound({ group, resource: names.plural, name: item.key.name })
  return shown
}

function listOf(
  view: ViewStorage,
  ctx: RequestContext,
  query: ListQuery,
): ReturnType<ResourceStorage['list']> {
  const { plan, state } = view
  const sight = new ViewSight(view, ctx.user)
  const { below, selects } = selectionOf(plan, inSource(view, query))
  const shownOf = (item: Item): Item | undefined => selected(sight.shown(item), selects)
  const shown = (items: Iterable<Item>): Promise<readonly Item[]> => pacedMap(items, shownOf)
  const about = JSON.stringify(['view', state, plan.field, ctx.user.name])
  const listing = { storage: plan.source.storage, tokens: tokensOf(ctx), about, shown }
  const { limit = 0, continue: token = '' } = below
  const isWhole = limit === 0 && token === ''
  return listShown(
    isWhole && canFail(plan) ? { ...listing, ...inTwoSteps(view, ctx, shownOf) } : listing,
    ctx,
    below,
  )
}

const selected = (
  shown: Item | undefined,
  selects: ((shown: Item) => boolean) | undefined,
): Item | undefined => (shown === undefined || selects?.(shown) === false ? undefined : shown)

/** Whether its expressions can cost too much. */
const canFail = ({ where, annotate }: ResourcePlan): boolean => where !== undefined || annotate.length > 0

/** Chooses the objects first, which needs no memory for them, and shows them when they are sent. */
function inTwoSteps(
  view: ViewStorage,
  ctx: RequestContext,
  shownOf: (item: Item) => Item | undefined,
): Pick<Listing, 'chosen' | 'shown'> {
  const sight = new ViewSight(view, ctx.user)
  return {
    chosen: items => pacedMap(items, item => (shownOf(item) === undefined ? undefined : item)),
    shown: items => (isShownAsStored(view.plan) ? items : pacedMap(items, item => sight.presented(item))),
  }
}

const isShownAsStored = ({ hide, annotate }: ResourcePlan): boolean =>
  hide.length === 0 && annotate.length === 0

function watchOf(
  view: ViewStorage,
  ctx: RequestContext,
  query: WatchQuery,
): ReturnType<ResourceStorage['watch']> {
  const { plan, clusters, since, changed } = view
  const { group, version, names, storage } = plan.source
  const sight = new ViewSight(view, ctx.user)
  const { below, selects } = selectionOf(plan, inSource(view, query))
  const watching: ShownWatching = {
    storage,
    clusters,
    since,
    changed,
    kind: { apiVersion: apiVersionOf(group, version), kind: names.kind },
    shown: (item, cluster) => selected(sight.shown(item, cluster), selects),
    renew: () => view.costs.renew(sight.allowance, ctx),
    followsClusters: plan.readsClusters,
  }
  return watchShown(watching, ctx, below)
}

const isInSource = ({ only }: ViewStorage, { cluster }: ObjectKey): boolean =>
  only === undefined || cluster === only

/** `*` is the only logical cluster of a View of its own workspace. */
const inSource = <Q extends { readonly cluster: string }>({ only }: ViewStorage, query: Q): Q =>
  only === undefined ? query : { ...query, cluster: only }
