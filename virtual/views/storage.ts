import { after } from '../../framework/async/awaitable.ts'
import {
  type ApiResource,
  forbidden,
  type Item,
  itemOf,
  type KubeObject,
  notFound,
  type ObjectKey,
  type RequestContext,
  type ResourceStorage,
  type Selection,
} from '../../framework/index.ts'
import { apiVersionOf } from '../../framework/meta/object.ts'
import { listShown } from './list.ts'
import { ViewSight, type ViewSightParts } from './sight.ts'
import type { ContinueTokens } from './tokens.ts'
import { watchShown } from './watch.ts'

/** What the storages of one View share. */
export interface ViewStorage extends ViewSightParts {
  readonly tokens: ContinueTokens
  /** The name of the View, for errors. */
  readonly name: string
  /** The only logical cluster of the source; undefined: all. */
  readonly only?: string
  /** Changes with the View; continue tokens are valid for one state of it. */
  readonly state: string
  readonly since: number
  readonly changed: AbortSignal
}

/** The objects of the source that a View shows. Writes apply to shown objects only, which have to stay in the View. */
export function viewStorage(view: ViewStorage): ResourceStorage {
  const { plan, tokens, state } = view
  const { storage } = plan.source
  const sightOf = ({ user }: RequestContext): ViewSight => new ViewSight(view, user)
  const visible = (sight: ViewSight, item: Item): Item => {
    const shown = isInSource(view, item.key) ? sight.shown(item) : undefined
    if (shown === undefined) throw notFound(aboutOf(plan.source, item.key.name))
    return shown
  }
  return {
    get: (ctx, key) => after(storage.get(ctx, key), item => visible(sightOf(ctx), item)),
    list(ctx, query) {
      const sight = sightOf(ctx)
      const about = JSON.stringify([state, plan.field, ctx.user.name])
      const listing = { storage, tokens, about, shown: (item: Item) => sight.shown(item) }
      return listShown(listing, ctx, inSource(view, query))
    },
    watch: (ctx, query) => watchShown(watchingOf(view, sightOf(ctx)), ctx, inSource(view, query)),
    async create(ctx, key, object, { patch: _, ...options }) {
      const sight = sightOf(ctx)
      stays(view, sight, key, object)
      return sight.presented(await storage.create(ctx, key, object, options))
    },
    async update(ctx, key, change, { patch: _, ...options }) {
      const sight = sightOf(ctx)
      const inner = async (stored: Item): Promise<KubeObject> => {
        const next = await change(visible(sight, stored))
        return stays(view, sight, key, next)
      }
      return sight.presented(await storage.update(ctx, key, inner, options))
    },
    async delete(ctx, key, check, options) {
      const sight = sightOf(ctx)
      const deletion = await storage.delete(ctx, key, stored => check(visible(sight, stored)), options)
      return { ...deletion, item: sight.presented(deletion.item) }
    },
  }
}

function watchingOf(view: ViewStorage, sight: ViewSight): Parameters<typeof watchShown>[0] {
  const { plan, clusters, since, changed } = view
  const { group, version, names, storage } = plan.source
  return {
    storage,
    clusters,
    since,
    changed,
    kind: { apiVersion: apiVersionOf(group, version), kind: names.kind },
    shown: (item, cluster) => sight.shown(item, cluster),
    renew: () => sight.renew(),
    followsClusters: plan.where?.reads.cluster === true,
  }
}

const aboutOf = ({ group, names }: ApiResource, name: string) => ({ group, resource: names.plural, name })

const isInSource = ({ only }: ViewStorage, { cluster }: ObjectKey): boolean =>
  only === undefined || cluster === only

/** `*` is the only logical cluster of a View of its own workspace. */
const inSource = <Q extends Selection>({ only }: ViewStorage, query: Q): Q =>
  only === undefined ? query : { ...query, cluster: only }

/** The object to store. Throws 403 unless the View shows it. */
function stays(
  { plan, name }: ViewStorage,
  sight: ViewSight,
  key: ObjectKey,
  object: KubeObject,
): KubeObject {
  if (sight.shown(itemOf(object, key.cluster)) !== undefined) return object
  throw forbidden(
    aboutOf(plan.source, object.metadata.name ?? ''),
    `the object would be outside the View ${JSON.stringify(name)}: ${plan.field}.where is not true for it`,
  )
}
