import type { ViewStep } from '../../framework/contract/authorizer.ts'
import { clusterDecision, decideUntilRefused } from '../../framework/contract/authorizer.ts'
import {
  allow,
  type Decision,
  decideAll,
  deny,
  type Host,
  type RequestContext,
  viewDecision,
} from '../../framework/index.ts'
import type { APIBinding } from '../../kcp/index.ts'
import { mayUseContent } from '../shared/exports/exports.ts'
import type { Publication, SliceParams, Slices } from './slices.ts'

const authorizer = 'virtual.replication.content.authorization.kcp.io'

type Context = RequestContext<SliceParams>

/**
 * Requires that the logical cluster has bound the resource from this export, and the verb on `apiexports/content`
 * of the export (kcp `pkg/virtual/replication/authorizer`).
 */
export function sliceAuthorizer(host: Host, slices: Slices) {
  return {
    authorize: async (ctx: Context): Promise<Decision> =>
      concluded(await decideUntilRefused(stepsFor(host, slices, ctx))),
    explain: async (ctx: Context): Promise<Decision> => ({
      ...concluded(await decideAll(stepsFor(host, slices, ctx))),
      cluster: ctx.params.provider,
    }),
  }
}

function concluded(trace: readonly Decision[]): Decision {
  const decision = viewDecision(authorizer, trace)
  if (decision.effect === 'allow') return { ...decision, reason: 'found ClusterCachedResource reference' }
  return { ...decision, effect: 'deny', reason: `${authorizer}: access denied` }
}

function stepsFor(host: Host, slices: Slices, ctx: Context): readonly ViewStep[] {
  const { provider } = ctx.params
  const found = slices.find(ctx.params)
  if (found === undefined)
    return [() => ({ ...deny('no such ClusterCachedResourceEndpointSlice', authorizer), cluster: provider })]
  return [
    () => onlyReads(ctx),
    () => bound(slices, ctx, found),
    async () =>
      clusterDecision(found.export.provider, authorizer, await mayUseContent(host, ctx, found.export)),
  ]
}

const onlyReads = ({ info: { verb } }: Context): Decision =>
  ['get', 'list', 'watch'].includes(verb)
    ? allow('a read', authorizer)
    : deny('write access to Replication virtual workspace is not allowed', authorizer)

function bound(slices: Slices, { cluster, info }: Context, found: Publication): Decision {
  const isOpen = cluster === '*' || !info.isResource || isBound(slices, cluster, found)
  const decision = isOpen
    ? allow('bound resource', authorizer)
    : deny('could not find suitable APIBinding in target logical cluster', authorizer)
  return { ...decision, cluster }
}

function isBound({ exports }: Slices, cluster: string, { export: of, entry }: Publication): boolean {
  const bindings = exports.bindingsOf(of).filter(({ key }) => key.cluster === cluster)
  return bindings.some(({ object }) =>
    (object as APIBinding).status?.boundResources?.some(
      ({ group, resource }) => group === entry.group && resource === entry.name,
    ),
  )
}
