import { allow, type Decision, deny, type Host, type RequestContext } from '../../framework/index.ts'
import { mayUseContent } from '../exports/content.ts'
import type { APIBinding } from '../exports/types.ts'
import type { Publication, Slices } from './slices.ts'
import type { SliceParams } from './types.ts'

const authorizer = 'virtual.replication.content.authorization.kcp.io'

type Context = RequestContext<SliceParams>

/**
 * Who may read what is published: in a logical cluster that has bound it from this very export, who has the verb on the
 * export's `apiexports/content` (chapter 10, section 6.4).
 */
export const sliceAuthorizer =
  (host: Host, slices: Slices) =>
  async (ctx: Context): Promise<Decision> => {
    const decision = await decide(host, slices, ctx)
    if (decision.effect === 'allow') return decision
    return { effect: 'deny', reason: `${authorizer}: access denied`, authorizer, trace: [decision] }
  }

async function decide(host: Host, slices: Slices, ctx: Context): Promise<Decision> {
  const { cluster, info } = ctx
  if (!['get', 'list', 'watch'].includes(info.verb))
    return deny('write access to Replication virtual workspace is not allowed', authorizer)
  const found = slices.find(ctx.params)
  if (found === undefined) return deny('no such ClusterCachedResourceEndpointSlice', authorizer)
  if (cluster !== '*' && info.isResource && !isBound(slices, cluster, found))
    return deny('could not find suitable APIBinding in target logical cluster', authorizer)
  const content = await mayUseContent(host, ctx, found.export)
  return content.effect === 'allow' ? allow('found ClusterCachedResource reference', authorizer) : content
}

function isBound({ exports }: Slices, cluster: string, { export: of, entry }: Publication): boolean {
  const bindings = exports.bindingsOf(of).filter(({ key }) => key.cluster === cluster)
  return bindings.some(({ object }) =>
    (object as APIBinding).status?.boundResources?.some(
      ({ group, resource }) => group === entry.group && resource === entry.name,
    ),
  )
}
