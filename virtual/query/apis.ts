import { LRUCache } from 'lru-cache'
import {
  type ApiResource,
  type ApiSet,
  apiSetOf,
  type Host,
  type KubeObject,
  type ListQuery,
  type RequestContext,
  type ResourceStorage,
  type UserInfo,
} from '../../framework/index.ts'
import { tokensOf } from '../../framework/lens/sealedtoken.ts'
import { readOnly } from '../../framework/lens/view.ts'
import { apiVersionOf } from '../../framework/meta/object.ts'
import { logicalClusterName, logicalClusterOf, resources } from '../../kcp/index.ts'
import type { AccessHistory } from '../shared/access/history.ts'
import type { ClusterIndex } from '../shared/facts/clusterindex.ts'
import { WatchCosts } from '../shared/watching/watchcosts.ts'
import { selectable, warnOfShards } from './check.ts'
import { combinedOf, oldestFirst } from './definitions.ts'
import { listQueried } from './list.ts'
import { QueryQuestion, queryOptions } from './question.ts'
import { selectorsOf } from './selectors.ts'
import { SentCounts } from './sent.ts'
import type { Units } from './units.ts'
import type { VisibleClusters } from './visible.ts'
import { watchQueried } from './watch.ts'

export interface QueryOptions {
  readonly host: Host
  readonly visible: VisibleClusters
  readonly units: Units
  readonly clusters: ClusterIndex
  readonly changes: AccessHistory
}

/** The resources of the logical clusters that a user can access, and what they were made of. */
interface Kept {
  readonly from: readonly (ApiSet | undefined)[]
  readonly set: ApiSet
}

/**
 * Users whose resources in `*` are kept, and for how many milliseconds after a query: they have the definitions of
 * clusters that may be deleted.
 */
const kept = { max: 200, ttl: 60_000 }

/** The resources that queries are about: those of the logical clusters that the user can access. */
export class QueryApis {
  readonly #options: QueryOptions
  readonly #ofUsers = new LRUCache<string, Kept>({ ...kept, ttlAutopurge: true, updateAgeOnGet: true })
  readonly #ofClusters = new WeakMap<ApiSet, ApiSet>()
  readonly #watches = { costs: new WatchCosts(), sent: new SentCounts() }

  constructor(options: QueryOptions) {
    this.#options = options
  }

  of(cluster: string, user: UserInfo): ApiSet | undefined {
    return cluster === '*' ? this.#ofUser(user) : this.#ofCluster(cluster)
  }

  #ofCluster(cluster: string): ApiSet {
    const own = this.#options.host.backend.apis(cluster)
    const known = own && this.#ofClusters.get(own)
    if (known !== undefined) return known
    const set = apiSetOf(this.#resources([cluster]))
    if (own !== undefined) this.#ofClusters.set(own, set)
    return set
  }

  #ofUser(user: UserInfo): ApiSet {
    const { visible, host } = this.#options
    const names = visible.last(user)
    const from = names.map(name => host.backend.apis(name))
    const key = JSON.stringify([user.name, user.groups, user.extra])
    const known = this.#ofUsers.get(key)
    if (known !== undefined && isSame(known.from, from)) return known.set
    const set = apiSetOf(this.#resources(names))
    this.#ofUsers.set(key, { from, set })
    return set
  }

  /** What the logical clusters serve, each resource with all its definitions. */
  #resources(names: readonly string[]): readonly ApiResource[] {
    const { backend, informers } = this.#options.host
    const clusters = informers.for(resources.logicalClusters)
    const created = (name: string) =>
      clusters.get(name, '', logicalClusterName)?.object.metadata.creationTimestamp
    const sets = new Set(oldestFirst(names, created).map(name => backend.apis(name)))
    const found = new Map<string, ApiResource[]>()
    for (const resource of [...sets].flatMap(set => set?.resources ?? [])) {
      if (!resource.verbs.includes('list')) continue
      const { group, version, names } = resource
      const id = `${group}/${version}/${names.plural}`
      const definitions = found.get(id)
      if (definitions === undefined) found.set(id, [resource])
      else definitions.push(resource)
    }
    return [...found.values()].map(definitions => this.#queried(definitions))
  }

  #queried(definitions: readonly ApiResource[]): ApiResource {
    const { clusters, host } = this.#options
    const resource = definitions[0] as ApiResource
    const { group, version, names } = resource
    const workspace = {
      name: 'Workspace',
      type: 'string',
      format: '',
      priority: 0,
      description: 'The path of the workspace of the object.',
      cell: (object: KubeObject) => {
        const cluster = logicalClusterOf(object)
        return clusters.of(cluster).path || cluster
      },
    }
    const definitionOf = (cluster: string) => host.backend.apis(cluster)?.find(group, version, names.plural)
    const combined = combinedOf(definitions, definitionOf)
    return {
      ...resource,
      ...combined,
      storage: this.#storage(resource),
      columns: [...combined.columns, workspace],
      subresources: [],
      queryOptions,
    }
  }

  #storage(resource: ApiResource): ResourceStorage {
    const { host, units, clusters, changes } = this.#options
    const watches = this.#watches
    const { group, version, names } = resource
    const anywhere = () => {
      const own = host.backend.apis('*')
      const served = own?.find(group, version, names.plural)
      const storage = (served ?? own?.findMetadata?.(group, version, names.plural))?.storage
      return { anywhere: storage ?? resource.storage, isServedForm: served !== undefined }
    }
    return readOnly(
      { group, resource: names.plural },
      {
        get: (ctx, key) => resource.storage.get(ctx, key),
        async *list(ctx, query) {
          const question = new QueryQuestion(query, clusters, ctx.user)
          const about = aboutOf({ group, plural: names.plural, question }, ctx, query)
          warnOfShards(host, ctx, question)
          const own = selectable(await units.all(ctx, question.usesWorkspaces), query, ctx)
          const of = { question, units: own, tokens: tokensOf(ctx), about }
          return yield* listQueried({ ...of, ...anywhere() }, ctx, query)
        },
        async *watch(ctx, query) {
          const question = new QueryQuestion(query, clusters, ctx.user)
          warnOfShards(host, ctx, question)
          const kind = { apiVersion: apiVersionOf(group, version), kind: names.kind }
          const parts = { host, units, clusters, changes, question, kind, selectors: selectorsOf(query) }
          yield* watchQueried({ ...parts, ...watches, ...anywhere() }, ctx, query)
        },
      },
    )
  }
}

interface Asked {
  readonly group: string
  readonly plural: string
  readonly question: QueryQuestion
}

/** What the continue tokens of a list are valid for. */
function aboutOf({ group, plural, question }: Asked, { user }: RequestContext, query: ListQuery): string {
  const { labels, fields, cluster, namespace } = query
  const asked = [question.where, question.orderBy, question.isDescending, labels, fields]
  return JSON.stringify(['query', user.name, group, plural, cluster, namespace, ...asked])
}

const isSame = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((each, i) => each === b[i])
