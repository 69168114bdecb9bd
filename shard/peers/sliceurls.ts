import type { ResourceRef } from '../../framework/contract/backend.ts'
import { type Item, type ItemEvent, isCopied, originAnnotation } from '../../framework/contract/item.ts'
import { parseLabelSelector } from '../../framework/selectors/parse.ts'
import { matchesLabels } from '../../framework/selectors/selectors.ts'
import type { APIBinding, APIExportEndpointSlice } from '../../kcp/apis.ts'
import { resourcePath, resources } from '../../kcp/resources.ts'
import { type Controller, createController, keyFor, keyOf, parseKey } from '../controllers/controller.ts'
import type { KcpControllerDeps } from '../controllers/host.ts'

/** Milliseconds until another try while the shard or the export of a slice is not known, and for a request to it. */
const [again, longest] = [1_000, 10_000]

/** A kind whose objects list the URLs of a view that serves an export, in its status. */
export interface SliceKind {
  readonly objects: ResourceRef
  readonly view: string
  /** What the view serves: `<logical cluster>|<name>`. */
  readonly served: (slice: string, exported: string) => string
}

export const sliceKinds: readonly SliceKind[] = [
  { objects: resources.endpointSlices, view: 'apiexport', served: (_, exported) => exported },
  { objects: resources.cachedResourceSlices, view: 'replication', served: slice => slice },
]

/**
 * Adds the URL of this shard's view to slices of other shards while this shard has bindings to their exports, and removes it
 * afterwards (kcp `pkg/reconciler/apis/apiexportendpointsliceurls`, and `clustercachedresourceendpointsliceurls` of its cache).
 * The publisher of the view changes the slices of this shard.
 */
export function sliceUrlsController(deps: KcpControllerDeps, kind: SliceKind): Controller {
  const { informers, tenancy, shard } = deps
  const slices = informers.for(kind.objects)
  const bindings = informers.for(resources.apiBindings)
  const consumersOf = bindings.index(item => [boundBy(item) ?? ''])
  const reconcile = async (key: string): Promise<number | undefined> => {
    const { cluster, name } = parseKey(key)
    const copy = slices.get(cluster, '', name)
    if (copy === undefined || !isCopied(copy.meta) || !isValid(copy)) return undefined
    const exported = exportOf(deps, copy)
    if (exported === undefined) return again
    const own = informers.for(tenancy.shards).get('root', '', shard.name)
    const isListed = shouldList(copy, own?.meta.labels ?? {}, consumersOf(exported).length > 0)
    const url = viewUrl(shard.virtualWorkspaceURL, kind.view, kind.served(key, exported))
    if (isListed === undefined || isListed === urlsOf(copy.object).includes(url)) return undefined
    return write(deps, kind.objects, copy, urls => [
      ...urls.filter(other => other !== url),
      ...(isListed ? [url] : []),
    ])
  }
  const ofShard = ({ item }: ItemEvent): readonly string[] =>
    item.key.name === shard.name ? slices.list().map(keyOf) : []
  return createController(
    {
      name: `${kind.objects.resource}-urls`,
      reconcile,
      sources: [
        { informer: slices, keys: ({ item }) => [keyOf(item)] },
        { informer: bindings, keys: slicesOf(deps, slices.index(exportNames)) },
        { informer: informers.for(tenancy.shards), keys: ofShard },
      ],
    },
    deps.log,
  )
}

/** The slices that may list the shard because of a binding. */
const slicesOf =
  (deps: KcpControllerDeps, named: (exported: string) => readonly Item[]) =>
  ({ item }: ItemEvent): readonly string[] => {
    const bound = boundBy(item)
    if (bound === undefined) return []
    const concerned = named(parseKey(bound).name)
    return concerned.filter(slice => [bound, undefined].includes(exportOf(deps, slice))).map(keyOf)
  }

const exportNames = ({ object }: Item): readonly string[] => [
  (object as APIExportEndpointSlice).spec?.export?.name ?? '',
]

/**
 * `<logical cluster>|<name>` of the export of a slice; undefined for an unknown path, such as those of other shards until this
 * one is connected with them.
 */
function exportOf({ directory }: KcpControllerDeps, { key, object }: Item): string | undefined {
  const { name, path } = (object as APIExportEndpointSlice).spec?.export ?? {}
  const cluster = directory.referencedCluster(path ? { path } : {}, key.cluster)
  return name === undefined || cluster === undefined ? undefined : keyFor(cluster, name)
}

/** `<logical cluster>|<name>` of the export that a binding has bound; undefined before. */
function boundBy({ object }: Item): string | undefined {
  const { spec, status } = object as APIBinding
  const name = spec?.reference?.export?.name
  const cluster = status?.apiExportClusterName
  return name === undefined || !cluster ? undefined : keyFor(cluster, name)
}

/** Whether all conditions of a slice are True: its export and its partition exist. */
function isValid({ object }: Item): boolean {
  const { conditions = [] } = (object as APIExportEndpointSlice).status ?? {}
  return conditions.length > 0 && conditions.every(({ status }) => status === 'True')
}

/**
 * Whether a valid slice lists the URL of a shard; undefined: it stays as it is, because the shard has left the partition and still
 * has consumers, whose controllers need the URL.
 */
function shouldList(
  { object }: Item,
  labels: Readonly<Record<string, string>>,
  isConsumed: boolean,
): boolean | undefined {
  const { shardSelector = '' } = (object as APIExportEndpointSlice).status ?? {}
  if (!isConsumed) return false
  return matchesLabels(parseLabelSelector(shardSelector), labels) ? true : undefined
}

function viewUrl(base: string, view: string, served: string): string {
  const { cluster, name } = parseKey(served)
  return `${base.replace(/\/+$/, '')}/services/${view}/${cluster}/${name}`
}

const urlsOf = (object: object): readonly string[] =>
  (object as APIExportEndpointSlice).status?.endpoints?.map(({ url }) => url) ?? []

/** Changes the URLs of a slice on its shard; a conflict with another shard is an error, after which the controller tries again. */
async function write(
  { peers }: KcpControllerDeps,
  resource: ResourceRef,
  { key, meta }: Item,
  change: (urls: readonly string[]) => readonly string[],
): Promise<number | undefined> {
  const peer = peers.get(meta.annotations[originAnnotation] ?? '')
  if (peer === undefined) return again
  const signal = AbortSignal.timeout(longest)
  const path = resourcePath(key.cluster, resource, key.name)
  const current = await peer.get<APIExportEndpointSlice>(path, signal)
  const { resourceVersion } = current.metadata
  const endpoints = change(urlsOf(current)).map(url => ({ url }))
  await peer.patch(`${path}/status`, { metadata: { resourceVersion }, status: { endpoints } }, signal)
  return undefined
}
