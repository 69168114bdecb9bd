import {
  type ApiResource,
  type ApiSet,
  apiSetOf,
  type ClusterName,
  type ClusterScope,
  type Host,
  type Lens,
  type ResourceStorage,
  type Subresource,
  viewOf,
} from '../../../framework/index.ts'
import { coreGroup } from '../../../kcp/index.ts'
import type { Clusters } from './clusters.ts'
import { type LifecycleParams, type Stage, waitsFor } from './stage.ts'

import { accepted } from './statuswrite.ts'

type Params = LifecycleParams

/**
 * The LogicalClusters that have the initializer or terminator; writes of their status can only remove the own entry
 * and set conditions.
 */
const lensOf =
  (stage: Stage) =>
  ({ params: { identifier } }: { readonly params: Params }): Lens => ({
    narrow: query => ({
      ...query,
      labels: { requirements: [...(query.labels?.requirements ?? []), ...stage.waiting(identifier)] },
    }),
    accept: (next, current) => (current === undefined ? next : accepted(stage, identifier, next, current)),
  })

function seen(stage: Stage, storage: ResourceStorage): ResourceStorage<Params> {
  const waiting = viewOf<Params>(storage, lensOf(stage))
  return stage.only?.(waiting) ?? waiting
}

/** `logicalclusters` as a view serves it over all clusters, and in one. */
interface LogicalClusters {
  readonly all: ApiResource<Params>
  readonly one: ApiResource<Params>
}

function logicalClusters(host: Host, stage: Stage): LogicalClusters {
  const served = host.backend.apis('*')?.find(coreGroup, 'v1alpha1', 'logicalclusters')
  if (served === undefined) throw new Error('the backend serves no logicalclusters')
  const storage = seen(stage, served.storage)
  const status = (verbs: Subresource['verbs']): readonly Subresource<Params>[] =>
    served.subresources
      .filter(({ name }) => name === 'status')
      .map(each => ({ ...each, verbs, storage: seen(stage, each.storage) }))
  return {
    // kcp's hash of LogicalClusters over all logical clusters: its clients compare it.
    all: {
      ...served,
      storage,
      verbs: ['get', 'list', 'watch'],
      subresources: status([]),
      storageVersionHash: 'l84hS/aun10=',
    },
    one: { ...served, storage, verbs: ['get'], subresources: status(['get', 'patch', 'update']) },
  }
}

/** The APIs of one workspace, and the signal that ends watches when the initializer or terminator has finished. */
interface Content {
  readonly base: ApiSet | undefined
  readonly set: ApiSet<Params>
  readonly finished: AbortController
}

/**
 * The ApiSets of the view: one for all logical clusters, and one for each workspace with the initializer or
 * terminator.
 */
export class LifecycleApis {
  readonly #host: Host
  readonly #stage: Stage
  readonly #clusters: Clusters
  readonly #resources: LogicalClusters
  readonly #all: ApiSet<Params>
  readonly #none: ApiSet<Params>
  /** By logical cluster and identifier, until it has finished. */
  readonly #contents = new Map<ClusterName, Map<string, Content>>()

  constructor(host: Host, stage: Stage, clusters: Clusters) {
    this.#host = host
    this.#stage = stage
    this.#clusters = clusters
    this.#resources = logicalClusters(host, stage)
    this.#all = { ...apiSetOf([this.#resources.all]), unaggregated: true }
    this.#none = apiSetOf([this.#resources.one])
    clusters.informer.onEvent(({ item }) => this.#refresh(item.key.cluster))
  }

  of({ identifier }: Params, cluster: ClusterScope): ApiSet<Params> {
    if (cluster === '*') return this.#all
    if (!waitsFor(this.#stage, this.#clusters.get(cluster), identifier)) return this.#none
    const known = this.#contents.get(cluster)?.get(identifier)
    const base = this.#host.backend.apis(cluster)
    if (known !== undefined && known.base === base) return known.set
    const content = this.#open(base, known?.finished ?? new AbortController())
    const contents = this.#contents.get(cluster) ?? new Map<string, Content>()
    this.#contents.set(cluster, contents.set(identifier, content))
    return content.set
  }

  #open(base: ApiSet | undefined, finished: AbortController): Content {
    const { one } = this.#resources
    const isOwn = ({ group, names }: ApiResource): boolean =>
      group === one.group && names.plural === one.names.plural
    const own = base?.find.bind(base)
    const signals = [finished.signal, ...(base?.replaced === undefined ? [] : [base.replaced])]
    const list = apiSetOf<Params>([...(base?.resources ?? []).filter(r => !isOwn(r)), one])
    const find: ApiSet<Params>['find'] = (group, version, plural) =>
      list.find(group, version, plural) ??
      (group === one.group && plural.startsWith(one.names.plural) ? undefined : own?.(group, version, plural))
    const partial = base === undefined ? { isPartial: true as const } : {}
    return { base, finished, set: { ...list, find, ...partial, replaced: AbortSignal.any(signals) } }
  }

  /** Ends access to the workspace after the own entry was removed. */
  #refresh(cluster: ClusterName): void {
    const contents = this.#contents.get(cluster)
    if (contents === undefined) return
    for (const [identifier, { finished }] of contents) {
      if (waitsFor(this.#stage, this.#clusters.get(cluster), identifier)) continue
      contents.delete(identifier)
      finished.abort()
    }
    if (contents.size === 0) this.#contents.delete(cluster)
  }
}
