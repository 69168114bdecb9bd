import {
  aborted,
  type Decision,
  deny,
  type Host,
  loopback,
  type RequestContext,
  type VirtualWorkspace,
} from '../../framework/index.ts'
import { LifecycleApis } from './apis.ts'
import { watchClusters } from './clusters.ts'
import { contentUser, type Entry, enter, isContent } from './content.ts'
import { typePublisher } from './publisher.ts'
import { type Stage, typeOf } from './stage.ts'
import type { LifecycleParams } from './types.ts'

/** A view for those who have to finish something at one stage of a workspace's life (chapter 10, sections 4 and 5). */
export function lifecycleView(
  host: Host,
  stage: Stage,
): Omit<VirtualWorkspace<LifecycleParams>, 'name' | 'path'> {
  const clusters = watchClusters(host)
  const apis = new LifecycleApis(host, stage, clusters)
  const entry: Entry = { host, clusters, stage }
  return {
    apis: (params, cluster) => apis.of(params, cluster),
    authorize: ctx => mayAct(host, stage, ctx),
    guard: ctx => enter(entry, ctx),
    // Where the workspace's own APIs are not known here, its shard knows them.
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
  { role, verb, name: stage }: Stage,
  { params, user, signal }: RequestContext<LifecycleParams>,
): Promise<Decision> {
  const by = `virtual.${stage}workspaces`
  const type = typeOf(params)
  if (type === undefined) return deny(`malformed ${role} ${JSON.stringify(params.identifier)}`, by)
  const { cluster, name } = type
  const resource = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspacetypes' }
  const target = { ...resource, subresource: '', namespace: '', name }
  const decision = await backend.authorizer.authorize(user, { verb, cluster, resource: target }, signal)
  return { ...decision, authorizer: by, trace: [decision] }
}
