import { setMaxListeners } from 'node:events'
import {
  type ApiResource,
  type ApiSet,
  apiSetOf,
  type Host,
  type Item,
  type ResourceStorage,
} from '../../framework/index.ts'
import { resources } from '../../kcp/index.ts'
import { compileCached } from '../../openapi/index.ts'
import type { ExportParams, KeptApis } from '../shared/exports/exports.ts'
import type { ClusterIndex } from '../shared/facts/clusterindex.ts'
import { WatchCosts } from '../shared/watching/watchcosts.ts'
import { aggregatesOf } from './aggregates/resource.ts'
import { Failures } from './failures.ts'
import type { FieldSteps } from './fields/fieldsteps.ts'
import { planOf, type ResourcePlan, type ViewPlan } from './plan.ts'
import { newShownItems, Presenter } from './presenter.ts'
import { labelledBy } from './selectors.ts'
import { hasStatus } from './staying.ts'
import { viewStorage } from './storage.ts'
import type { ViewObject, ViewParams } from './types.ts'

/** A View and the source for which it was compiled. */
export interface CompiledView {
  readonly plan: ViewPlan
  readonly set: ApiSet
  readonly failures: Failures
}

interface Kept extends CompiledView {
  readonly params: ViewParams
  readonly state: string
  readonly source: ApiSet
  readonly changed: AbortController
}

export interface ViewApisOptions {
  readonly host: Host
  readonly exportApis: KeptApis<ExportParams>
  readonly clusters: ClusterIndex
  /** The workspaces in a logical cluster, of which each user sees the own ones. */
  readonly personal: (owner: string) => ApiSet | undefined
  /** Called when an expression of a View failed for another object. */
  readonly failed: (params: ViewParams) => void
}

/** The compiled Views of all logical clusters: the same object until the View or its source changes. */
export class ViewApis {
  readonly #options: ViewApisOptions
  readonly #kept = new Map<string, Kept>()
  readonly #shown = newShownItems()
  readonly #costs = new WatchCosts()
  /** By state: the revision at which it was seen first. */
  readonly #since = new Map<string, { readonly state: string; readonly revision: number }>()

  constructor(options: ViewApisOptions) {
    this.#options = options
    options.host.informers.for(resources.views).onEvent(({ type, item }) => {
      if (type !== 'BOOKMARK') this.#seen(item, type === 'DELETED')
    })
  }

  find({ owner, view }: ViewParams): Item | undefined {
    return this.#options.host.informers.for(resources.views).get(owner, '', view)
  }

  /** The resources of the source; undefined while there is no source. */
  sourceOf({ owner }: ViewParams, { spec }: ViewObject): ApiSet | undefined {
    const { exportApis, host } = this.#options
    const { apiExport, cluster, workspaces } = spec?.source ?? {}
    if (workspaces === '.') return this.#options.personal(owner)
    // The storages of an export do not read the params of the path.
    if (apiExport !== undefined)
      return exportApis.of({ provider: owner, name: apiExport }) as unknown as ApiSet | undefined
    return cluster === '.' ? host.backend.apis(owner) : undefined
  }

  /** undefined for a missing View, and while there is no source. */
  of(params: ViewParams): CompiledView | undefined {
    const id = idOf(params)
    const item = this.find(params)
    const source = item && this.sourceOf(params, item.object as ViewObject)
    const kept = this.#kept.get(id)
    const state = item && stateOf(item)
    if (kept !== undefined && kept.state === state && kept.source === source) return kept
    this.#drop(id)
    if (item === undefined || source === undefined) return undefined
    const made = this.#compile(params, item, source)
    this.#kept.set(id, made)
    return made
  }

  /**
   * Drops the Views of a logical cluster whose source has changed: their watches expire. Each is compiled again when it is used, not all in
   * one step.
   */
  refresh(owner: string): void {
    for (const { key, object } of this.#options.host.informers.for(resources.views).list(owner)) {
      const params = { owner, view: key.name }
      const kept = this.#kept.get(idOf(params))
      if (kept !== undefined && kept.source !== this.sourceOf(params, object as ViewObject))
        this.#drop(idOf(params))
    }
  }

  #drop(id: string): void {
    const kept = this.#kept.get(id)
    this.#kept.delete(id)
    kept?.changed.abort()
  }

  #seen(item: Item, isDeleted: boolean): void {
    const id = idOf({ owner: item.key.cluster, view: item.key.name })
    const state = stateOf(item)
    if (isDeleted) this.#since.delete(id)
    else if (this.#since.get(id)?.state !== state)
      this.#since.set(id, { state, revision: Number(item.meta.resourceVersion) })
    if (isDeleted || (this.#kept.get(id)?.state ?? state) !== state) this.#drop(id)
  }

  #compile(params: ViewParams, item: Item, source: ApiSet): Kept {
    const { clusters, failed } = this.#options
    const object = item.object as ViewObject
    const plan = planOf(object, source, cluster => clusters.of(cluster))
    const changed = new AbortController()
    // Every watch of the View listens to it.
    setMaxListeners(0, changed.signal)
    const failures = new Failures(() => failed(params))
    const state = stateOf(item)
    const shared = {
      clusters,
      failures,
      state,
      name: params.view,
      owner: params.owner,
      costs: this.#costs,
      since: this.#since.get(idOf(params))?.revision ?? Number(item.meta.resourceVersion),
      changed: changed.signal,
      ...(object.spec?.source?.apiExport === undefined && { only: params.owner }),
    }
    const served = plan.resources.map(resource => {
      const presenter = new Presenter(resource, failures, this.#shown)
      return servedBy(
        resource,
        viewStorage({ ...shared, plan: resource, presenter, labelled: labelledBy(resource) }),
      )
    })
    const aggregates = this.#aggregates(params, { plan, failures, signal: changed.signal }, served)
    return { params, plan, set: apiSetOf([...served, ...aggregates]), failures, state, source, changed }
  }

  #aggregates(
    { owner }: ViewParams,
    made: Pick<CompiledView, 'plan' | 'failures'> & { readonly signal: AbortSignal },
    served: readonly ApiResource[],
  ): readonly ApiResource[] {
    const { host, clusters } = this.#options
    const { plan, ...rest } = made
    if (plan.aggregates.length === 0) return []
    const plans = plan.aggregates.map(each => ({
      plan: each,
      storage: (served[(plan.resources as readonly unknown[]).indexOf(each.of)] as ApiResource).storage,
    }))
    return [aggregatesOf({ host, owner, plans, factsOf: cluster => clusters.of(cluster), ...rest })]
  }
}

/** The resource of the source as a View serves it. */
function servedBy(plan: ResourcePlan, storage: ResourceStorage): ApiResource {
  const { source, hide, openapi, columns = source.columns } = plan
  return {
    ...source,
    verbs: source.verbs.filter(verb => plan.verbs.includes(verb)),
    storage,
    subresources: [],
    createOnUpdate: false,
    // Without its subresources, the resource would let clients own the status, which a View does not write.
    ...(hasStatus(plan) && { resetFields: { '': [['status']], ...source.resetFields } }),
    // Descriptions of columns have the path of the field.
    columns: columns.filter(({ description }) => !hide.some(({ text }) => description.includes(text))),
    ...(hide.length > 0 && {
      openapi: { ...openapi },
      schema: compileCached(openapi),
      selectableFields: shownFields(source.selectableFields ?? {}, hide),
    }),
  }
}

/** Selectors for hidden fields are those for unknown ones. */
const shownFields = (
  fields: NonNullable<ApiResource['selectableFields']>,
  hide: readonly FieldSteps[],
): NonNullable<ApiResource['selectableFields']> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name]) => !hide.some(({ text }) => name === text || name.startsWith(`${text}.`)),
    ),
  )

export const idOf = ({ owner, view }: ViewParams): string => `${owner}/${view}`

/** Changes with the spec of a View. */
const stateOf = ({ meta, object }: Item): string => `${meta.uid}/${object.metadata.generation ?? 0}`
