import { aborted } from '../../../framework/async/awaitable.ts'
import { clusterDecision } from '../../../framework/contract/authorizer.ts'
import {
  type Decision,
  decideAll,
  deny,
  type Host,
  type KubeObject,
  loopback,
  type RequestContext,
  type UrlPublisher,
  type VirtualWorkspace,
  viewDecision,
} from '../../../framework/index.ts'
import {
  clusterAnnotation,
  exportedResources,
  type VirtualWorkspaceUrl,
  type WorkspaceType,
} from '../../../kcp/index.ts'
import { LifecycleApis } from './apis.ts'
import { type Clusters, watchClusters } from './clusters.ts'
import { contentUser, type Entry, enter, entranceSteps, isContent } from './content.ts'
import { authorizerOf, type LifecycleParams, type Stage, typeOf } from './stage.ts'

/**
 * The view of the initializers or terminators of workspaces (kcp
 * `pkg/virtual/{initializing,terminating}workspaces`).
 */
export function lifecycleView(
  host: Host,
  stage: Stage,
): Omit<VirtualWorkspace<LifecycleParams>, 'name' | 'path'> {
  const clusters = watchClusters(host)
  const apis = new LifecycleApis(host, stage, clusters)
  const entry: Entry = { host, clusters, stage }
  return {
    apis: (params, cluster) => apis.of(params, cluster),
    authorize: async ctx => actingDecision(stage, await mayAct(host, stage, ctx)),
    explain: ctx => explained(entry, ctx),
    guard: ctx => enter(entry, ctx),
    // Requests for APIs of the workspace that are not known here are forwarded to its shard.
    otherwise: 'forward',
    actAs: ctx => (isContent(ctx) ? contentUser(entry, ctx) : loopback),
    publisher: typePublisher(stage, clusters),
    run: async (ready, signal) => {
      await clusters.synced
      ready()
      await aborted(signal)
    },
  }
}

/** Whether the user may act as the initializer or terminator: the stage's verb on the type, in the type's cluster. */
async function mayAct(
  { backend }: Host,
  stage: Stage,
  { params, user, signal }: RequestContext<LifecycleParams>,
): Promise<Decision> {
  const { role, verb } = stage
  const by = authorizerOf(stage)
  const type = typeOf(params)
  if (type === undefined) return deny(`malformed ${role} ${JSON.stringify(params.identifier)}`, by)
  const { cluster, name } = type
  const resource = exportedResources.workspaceTypes
  const target = { ...resource, subresource: '', namespace: '', name }
  const decision = await backend.authorizer.authorize(user, { verb, cluster, resource: target }, signal)
  return clusterDecision(cluster, by, decision)
}

function actingDecision(stage: Stage, acting: Decision): Decision {
  const decision = viewDecision(authorizerOf(stage), [acting])
  return acting.hint === undefined ? decision : { ...decision, hint: acting.hint }
}

/** The decision, and the checks of content requests. */
async function explained(entry: Entry, ctx: RequestContext<LifecycleParams>): Promise<Decision> {
  const act = (): Promise<Decision> => mayAct(entry.host, entry.stage, ctx)
  const trace = await decideAll([act, ...entranceSteps(entry, ctx)])
  return { ...viewDecision(authorizerOf(entry.stage), trace), cluster: typeOf(ctx.params)?.cluster ?? '' }
}

/**
 * Publishes the view's URL in every WorkspaceType, also without an initializer. The URLs of the initializing view
 * come first.
 */
const typePublisher = (stage: Stage, clusters: Clusters): UrlPublisher<LifecycleParams> => ({
  get objects() {
    return clusters.types
  },
  dependsOn: [],
  views: ({ metadata }) => {
    const cluster = metadata.annotations?.[clusterAnnotation]
    return cluster === undefined ? undefined : [{ identifier: `${cluster}:${metadata.name ?? ''}` }]
  },
  publish: (object, urls) => published(stage, object, urls),
})

function published({ name }: Stage, object: KubeObject, urls: readonly string[]): KubeObject {
  const { status } = object as WorkspaceType
  const known = status?.virtualWorkspaces ?? []
  const own = known.filter(({ type }) => type === name).map(({ url }) => url)
  if (own.join(' ') === urls.join(' ')) return object
  const entries: readonly VirtualWorkspaceUrl[] = urls.map(url => ({ url, type: name }))
  const others = known.filter(({ type }) => type !== name)
  const all = name === 'initializing' ? [...entries, ...others] : [...others, ...entries]
  return { ...object, status: { ...status, virtualWorkspaces: all } }
}
