import { Pace, pacedMap } from '../../framework/async/awaitable.ts'
import { actionOf, decisionBy } from '../../framework/contract/authorizer.ts'
import { contextWith } from '../../framework/contract/context.ts'
import { oncePerItem } from '../../framework/contract/onceperitem.ts'
import type { ApiResource, Host, RequestContext } from '../../framework/index.ts'
import type { ResourceRequest } from '../../framework/request/requestinfo.ts'
import {
  type APIBinding,
  type APIExport,
  exportedResources,
  type LogicalCluster,
  logicalClusterName,
  resources,
} from '../../kcp/index.ts'
import type { VisibleClusters } from './visible.ts'

/** Objects that the user may read together: those of a logical cluster, or of one namespace in it. */
export interface Unit {
  readonly cluster: string
  /** '': all namespaces. */
  readonly namespace: string
  readonly resource: ApiResource
  /** Whether the user may `get` the Workspace of the logical cluster, whose labels and annotations are facts of the cluster. */
  readonly readsWorkspace: boolean
}

/** A logical cluster in which a query looks. */
interface Place {
  readonly cluster: string
  readonly usesWorkspaces: boolean
}

/** The logical cluster and the name of a Workspace. */
interface Owner {
  readonly cluster: string
  readonly name: string
}

/** The provider of a binding. */
const providerOf = oncePerItem(({ object }) => (object as APIBinding).status?.apiExportClusterName)

/** '' for an export without a policy. */
const policyOf = oncePerItem(({ object }) => {
  const { maximalPermissionPolicy } = (object as APIExport).spec ?? {}
  return maximalPermissionPolicy == null ? '' : JSON.stringify(maximalPermissionPolicy)
})

/** Decides which objects a request may read. */
export class Units {
  readonly #host: Host
  readonly #visible: VisibleClusters

  constructor(host: Host, visible: VisibleClusters) {
    this.#host = host
    this.#visible = visible
  }

  /** In the order of logical clusters and namespaces. `usesWorkspaces`: the query asks about facts of Workspaces. */
  async all(ctx: RequestContext, usesWorkspaces: boolean): Promise<readonly Unit[]> {
    const pace = new Pace()
    const units: Unit[] = []
    const clusters = ctx.cluster === '*' ? await this.#visible.of(ctx.user, ctx) : [ctx.cluster]
    for (const cluster of clusters) {
      units.push(...(await this.in({ cluster, usesWorkspaces }, ctx)))
      const wait = pace.due()
      if (wait !== undefined) await wait
    }
    return units
  }

  /** Those of one logical cluster; none where the user may not read, or where the resource is not served. */
  async in({ cluster, usesWorkspaces }: Place, ctx: RequestContext): Promise<readonly Unit[]> {
    const { info } = ctx
    const { backend } = this.#host
    // The resourceVersion of a query is not one of the logical cluster.
    const refusal = backend.refusal?.(cluster, ctx, new URLSearchParams())
    if (!info.isResource || refusal !== undefined) return []
    const resource = backend.apis(cluster)?.find(info.group, info.version, info.resource)
    if (resource === undefined || !resource.verbs.includes(info.verb)) return []
    const names = await this.#readable(cluster, resource, ctx)
    if (names.length === 0) return []
    const readsWorkspace = usesWorkspaces && (await this.#readsWorkspace(cluster, ctx))
    return names.map(namespace => ({ cluster, namespace, resource, readsWorkspace }))
  }

  /**
   * The logical clusters whose permissions decide about the units of one: its own, that of its Workspace, and the providers of its
   * APIs.
   */
  async decidedIn(cluster: string): Promise<readonly string[]> {
    const owner = this.#ownerOf(cluster)
    const bindings = this.#host.informers.for(resources.apiBindings).list(cluster)
    const providers = await pacedMap(bindings, providerOf)
    return [...new Set([cluster, ...(owner === undefined ? [] : [owner.cluster]), ...providers])]
  }

  /** Calls `changed` with the logical cluster of an export whose maximal permission policy changes. Returns a function that ends it. */
  followPolicies(changed: (cluster: string) => void): () => void {
    const { informers } = this.#host.shared ?? this.#host
    return informers.for(resources.apiExports).onEvent(({ type, item, previous = item }) => {
      const [before, now] = [
        type === 'ADDED' ? '' : policyOf(previous),
        type === 'DELETED' ? '' : policyOf(item),
      ]
      if (before !== now) changed(item.key.cluster)
    })
  }

  /** The namespaces that the user may read, or ''; none where the user may not read. */
  async #readable(
    cluster: string,
    { namespaced }: ApiResource,
    ctx: RequestContext,
  ): Promise<readonly string[]> {
    const info = ctx.info as ResourceRequest
    if (await this.#mayRead(cluster, info, ctx)) return [info.namespace]
    return info.namespace !== '' || !namespaced ? [] : await this.#namespaces(cluster, info, ctx)
  }

  /** A logical cluster without owner has no Workspace, and no labels that could be hidden. */
  async #readsWorkspace(cluster: string, ctx: RequestContext): Promise<boolean> {
    const owner = this.#ownerOf(cluster)
    if (owner === undefined) return true
    const resource = { ...exportedResources.workspaces, subresource: '', namespace: '', name: owner.name }
    const action = { verb: 'get', cluster: owner.cluster, resource }
    const { effect } = await decisionBy(this.#host.backend.authorizer, { user: ctx.user, action }, ctx)
    return effect === 'allow'
  }

  #ownerOf(name: string): Owner | undefined {
    const found = this.#host.informers.for(resources.logicalClusters).get(name, '', logicalClusterName)
    const { owner } = (found?.object as LogicalCluster | undefined)?.spec ?? {}
    return owner?.cluster && owner.name ? { cluster: owner.cluster, name: owner.name } : undefined
  }

  async #namespaces(cluster: string, info: ResourceRequest, ctx: RequestContext): Promise<readonly string[]> {
    const pace = new Pace()
    const found: string[] = []
    for (const { key } of this.#host.informers.for(namespaces).list(cluster)) {
      const wait = pace.due()
      if (wait !== undefined) await wait
      if (await this.#mayRead(cluster, { ...info, namespace: key.name }, ctx)) found.push(key.name)
    }
    return found.sort()
  }

  async #mayRead(cluster: string, info: ResourceRequest, ctx: RequestContext): Promise<boolean> {
    const question = { user: ctx.user, action: actionOf(info, cluster) }
    const { effect } = await decisionBy(this.#host.backend.authorizer, question, ctx)
    return effect === 'allow'
  }
}

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }

/** The context of a request for the objects of one unit. */
export const contextFor = (ctx: RequestContext, { cluster }: Unit): RequestContext =>
  contextWith(ctx, { cluster })
