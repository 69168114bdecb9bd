import { type Item, type ItemEvent, isCopied, originAnnotation } from '../../framework/contract/item.ts'
import { parseLabelSelector } from '../../framework/selectors/parse.ts'
import { matchesLabels } from '../../framework/selectors/selectors.ts'
import type { APIBinding, APIExportEndpointSlice } from '../../kcp/apis.ts'
import { resources } from '../../kcp/resources.ts'
import { type Controller, createController, keyFor, keyOf, parseKey } from '../controllers/controller.ts'
import type { KcpControllerDeps } from '../controllers/host.ts'

/** Milliseconds until another try while the shard of a slice is not known, and for a request to it. */
const [again, longest] = [1_000, 10_000]

/**
 * Adds the URL of this shard's view to slices of other shards while this shard has bindings to their exports, and removes it
 * afterwards (kcp `pkg/reconciler/apis/apiexportendpointsliceurls`). The publisher of the view changes the slices of this shard.
 */
export function sliceUrlsController(deps: KcpControllerDeps): Controller {
  const { informers, tenancy, shard } = deps
  const slices = informers.for(resources.endpointSlices)
  const bindings = informers.for(resources.apiBindings)
  const byExport = slices.index(item => [exportOf(deps, item) ?? ''])
  const consumersOf = bindings.index(item => [boundBy(item) ?? ''])
  const reconcile = async (key: string): Promise<number | undefined> => {
    const { cluster, name } = parseKey(key)
    const copy = slices.get(cluster, '', name)
    const exported = copy && isCopied(copy.meta) ? exportOf(deps, copy) : undefined
    if (copy === undefined || exported === undefined) return undefined
    const own = informers.for(tenancy.shards).get('root', '', shard.name)
    const isListed = shouldList(copy, own?.meta.labels ?? {}, consumersOf(exported).length > 0)
    const url = viewUrl(shard.virtualWorkspaceURL, exported)
    if (isListed === undefined || isListed === urlsOf(copy.object).includes(url)) return undefined
    return write(deps, copy, urls => [...urls.filter(other => other !== url), ...(isListed ? [url] : [])])
  }
  const ofBinding = ({ item }: ItemEvent): readonly string[] => byExport(boundBy(item) ?? '').map(keyOf)
  const ofShard = ({ item }: ItemEvent): readonly string[] =>
    item.key.name === shard.name ? slices.list().map(keyOf) : []
  return createController(
    {
      name: 'apiexportendpointslice-urls',
      reconcile,
      sources: [
        { informer: slices, keys: ({ item }) => [keyOf(item)] },
        { informer: bindings, keys: ofBinding },
        { informer: informers.for(tenancy.shards), keys: ofShard },
      ],
    },
    deps.log,
  )
}

/** `<logical cluster>|<name>` of the export of a slice. */
function exportOf({ directory }: KcpControllerDeps, { key, object }: Item): string | undefined {
  const { name, path } = (object as APIExportEndpointSlice).spec?.export ?? {}
  const cluster = directory.clusterOf(path ? { path } : {}, key.cluster)
  return name === undefined || cluster === undefined ? undefined : keyFor(cluster, name)
}

/** `<logical cluster>|<name>` of the export that a binding has bound; undefined before. */
function boundBy({ object }: Item): string | undefined {
  const { spec, status } = object as APIBinding
  const name = spec?.reference?.export?.name
  const cluster = status?.apiExportClusterName
  return name === undefined || !cluster ? undefined : keyFor(cluster, name)
}

/**
 * Whether a slice lists the URL of a shard; undefined: it stays as it is, because a condition of the slice is not True, or
 * because the shard has left the partition and still has consumers, whose controllers need the URL.
 */
function shouldList(
  { object }: Item,
  labels: Readonly<Record<string, string>>,
  isConsumed: boolean,
): boolean | undefined {
  const { conditions = [], shardSelector = '' } = (object as APIExportEndpointSlice).status ?? {}
  if (conditions.length === 0 || conditions.some(({ status }) => status !== 'True')) return undefined
  if (!isConsumed) return false
  return matchesLabels(parseLabelSelector(shardSelector), labels) ? true : undefined
}

function viewUrl(base: string, exported: string): string {
  const { cluster, name } = parseKey(exported)
  return `${base.replace(/\/+$/, '')}/services/apiexport/${cluster}/${name}`
}

const urlsOf = (object: object): readonly string[] =>
  (object as APIExportEndpointSlice).status?.endpoints?.map(({ url }) => url) ?? []

/** Changes the URLs of a slice on its shard; a conflict with another shard is an error, after which the controller tries again. */
async function write(
  { peers }: KcpControllerDeps,
  { key, meta }: Item,
  change: (urls: readonly string[]) => readonly string[],
): Promise<number | undefined> {
  const peer = peers.get(meta.annotations[originAnnotation] ?? '')
  if (peer === undefined) return again
  const signal = AbortSignal.timeout(longest)
  const { group, version, resource } = resources.endpointSlices
  const path = `/clusters/${key.cluster}/apis/${group}/${version}/${resource}/${key.name}`
  const current = await peer.get<APIExportEndpointSlice>(path, signal)
  const { resourceVersion } = current.metadata
  const endpoints = change(urlsOf(current)).map(url => ({ url }))
  await peer.patch(`${path}/status`, { metadata: { resourceVersion }, status: { endpoints } }, signal)
  return undefined
}
