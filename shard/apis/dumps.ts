import type { RawResponse } from '../../framework/contract/backend.ts'
import { isObject } from '../../framework/json/values.ts'
import { badRequest, forbidden, notFound } from '../../framework/meta/errors.ts'
import type { ClusterName } from '../../framework/meta/object.ts'
import type { VerbRequest } from '../../framework/request/response.ts'
import { isPrivileged, type UserInfo } from '../../framework/request/user.ts'
import { apisGroup, migrationGroup } from '../../kcp/apigroups.ts'
import type { APIBinding } from '../../kcp/apis.ts'
import { boundCRDsCluster } from '../../kcp/logicalclusters.ts'
import {
  type DumpEntry,
  entriesAnnotation,
  entriesFormat,
  type LogicalClusterDump,
} from '../../kcp/migration.ts'
import { externalLogicalClusterAdmin } from '../../kcp/users.ts'
import { parseStorageKey, registryPrefix, storageKey } from '../cache/codec.ts'
import type { WatchCache } from '../cache/contract.ts'
import { builtinSegment, customSegment } from '../cache/segments.ts'
import { entryForKcp } from '../entries/tokcp.ts'
import type { Most } from '../store/medium.ts'
import { intact, type Store, type StoredValue } from '../store/store.ts'
import { beginForKcp, endForKcp } from './dumpstate.ts'
import type { Inactive } from './inactive.ts'

export interface DumpSource {
  readonly store: Store
  readonly cache: WatchCache
  readonly inactive: Inactive
}

/** Bytes of a request, entries of a page, and bytes of the values of a page. */
const [largest, mostEntries, mostBytes] = [64 * 1024, 500, 2 * 1024 * 1024]

/**
 * A page of the stored entries of a logical cluster that moves, and on the last page the schemas that its bindings use (kcp
 * `pkg/server/migrationdump`). Throws 403 for users who are no shard: other views forward requests, too. Throws 404 for other
 * logical clusters. A client that names no format gets entries of kcp, if the logical cluster moves to a shard of kcp.
 */
export async function dumpResponse(
  source: DumpSource,
  { cluster, user }: { readonly cluster: ClusterName; readonly user: UserInfo },
  request: VerbRequest,
): Promise<RawResponse> {
  const about = { group: migrationGroup, resource: 'logicalclusterdumps' }
  if (!isPrivileged(user) && !user.groups.includes(externalLogicalClusterAdmin))
    throw forbidden({ ...about, name: '' }, `user is not in group ${externalLogicalClusterAdmin}`)
  if (source.inactive.refusalOfWrites(cluster) === undefined || source.inactive.isPartial(cluster))
    throw notFound({ ...about, name: cluster })
  const asked = dumpIn(await request.body(largest))
  // Before the read: what is written later is not in the page.
  const resourceVersion = String(source.store.revision)
  const status = isForKcp(asked)
    ? await kcpPageOf(source, cluster, asked.spec ?? {})
    : await pageOf(source, cluster, asked.spec ?? {})
  const metadata = { ...asked.metadata, resourceVersion }
  const bytes = Buffer.from(JSON.stringify({ ...asked, metadata, status }))
  return { status: 201, headers: { 'content-type': 'application/json' }, body: only(bytes) }
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield bytes
}

function dumpIn(bytes: Buffer): LogicalClusterDump {
  const dump = parsed(bytes)
  if (!isObject(dump)) throw badRequest('the body is not an object')
  const format = formatOf(dump)
  if (format === undefined || format === entriesFormat) return dump
  throw badRequest(`this shard has entries of the format ${entriesFormat}, and not of ${format}`)
}

const formatOf = ({ metadata }: LogicalClusterDump): string | undefined =>
  metadata?.annotations?.[entriesAnnotation]

const isForKcp = (dump: LogicalClusterDump): boolean => formatOf(dump) === undefined

function parsed(bytes: Buffer): LogicalClusterDump {
  try {
    return JSON.parse(bytes.toString()) as LogicalClusterDump
  } catch {
    throw badRequest('the body is not JSON')
  }
}

type Page = NonNullable<LogicalClusterDump['status']>

type DumpSpec = NonNullable<LogicalClusterDump['spec']>

async function pageOf(source: DumpSource, cluster: ClusterName, spec: DumpSpec): Promise<Page> {
  const page = await storedPage(source, cluster, spec)
  const entries = page.values.map(entryOf)
  if (!page.isLast) return { entries, continue: keyOf(page.values.at(-1)) }
  return { entries: [...entries, ...(await schemasOf(source, cluster))] }
}

/** The same for a shard of kcp, which creates the definitions of bound resources itself. */
async function kcpPageOf(source: DumpSource, cluster: ClusterName, spec: DumpSpec): Promise<Page> {
  await beginForKcp(source, cluster)
  const page = await storedPage(source, cluster, spec)
  const entries: DumpEntry[] = []
  for (const value of page.values) entries.push(...(await kcpEntriesOf(source, value)))
  if (!page.isLast) return { entries, continue: keyOf(page.values.at(-1)) }
  await endForKcp(source, cluster)
  return { entries }
}

async function kcpEntriesOf(
  { cache }: DumpSource,
  { key, modified }: StoredValue,
): Promise<readonly DumpEntry[]> {
  const place = parseStorageKey(key)
  if (place === undefined) throw badRequest(`the key ${key} is not that of an object`)
  await cache.at(modified)
  const { group, resource, segment } = place.resource
  const item = cache.resource(group, resource, segment).get(place.key)
  if (item === undefined) return []
  try {
    const entry = entryForKcp(place, item.object)
    return entry === undefined ? [] : [entry]
  } catch (error) {
    throw badRequest((error as Error).message)
  }
}

function storedPage(
  { store }: DumpSource,
  cluster: ClusterName,
  { continue: after = '', limit, maxBytes }: DumpSpec,
): Promise<StoredPage> {
  const prefix = `${registryPrefix}${cluster}/`
  // '0' follows '/'.
  const from = after.startsWith(`${cluster}/`) ? `${registryPrefix}${after}\0` : prefix
  const most = Math.min(positive(limit) ?? mostEntries, mostEntries)
  const bytes = Math.min(positive(maxBytes) ?? mostBytes, mostBytes)
  return firstOf(store, [from, `${prefix.slice(0, -1)}0`], { count: most, bytes })
}

const positive = (limit: number | undefined): number | undefined =>
  typeof limit === 'number' && limit >= 1 ? Math.floor(limit) : undefined

const keyOf = (value: StoredValue | undefined): string => value?.key.slice(registryPrefix.length) ?? ''
const entryOf = (value: StoredValue): DumpEntry => ({
  key: keyOf(value),
  value: value.value.toString('base64'),
})

interface StoredPage {
  readonly values: readonly StoredValue[]
  readonly isLast: boolean
}

/** Values up to the limits, at least one. */
async function firstOf(
  store: Store,
  [from, to]: readonly [string, string],
  { count, bytes }: Most,
): Promise<StoredPage> {
  const values: StoredValue[] = []
  let left = bytes
  for await (const batch of store.range(from, to, { limit: count }))
    for (const value of batch) {
      left -= value.value.length
      if (left < 0 && values.length > 0) return { values, isLast: false }
      values.push(intact(value))
    }
  return { values, isLast: values.length < count }
}

/** The copies of the schemas that bindings use: their providers may have deleted them. */
async function schemasOf({ store, cache }: DumpSource, cluster: ClusterName): Promise<readonly DumpEntry[]> {
  const bindings = [...cache.resource(apisGroup, 'apibindings', customSegment).items(cluster)]
  const uids = new Set(bindings.flatMap(item => boundSchemas(item.objectOnce as APIBinding)))
  const crds = {
    group: 'apiextensions.k8s.io',
    resource: 'customresourcedefinitions',
    segment: builtinSegment,
  }
  const values = await Promise.all(
    [...uids].map(name => store.get(storageKey(crds, { cluster: boundCRDsCluster, namespace: '', name }))),
  )
  return values.flatMap(value => (value === undefined ? [] : [entryOf(value)]))
}

const boundSchemas = ({ status }: APIBinding): readonly string[] =>
  (status?.boundResources ?? []).map(({ schema }) => schema.UID)
