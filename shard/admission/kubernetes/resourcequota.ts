import {
  type AdmissionAttributes,
  type AdmissionPlugin,
  refusedName,
} from '../../../framework/contract/admission.ts'
import type { Informer, Informers } from '../../../framework/contract/informer.ts'
import type { Item } from '../../../framework/contract/item.ts'
import { parseQuantity } from '../../../framework/formats/quantity.ts'
import { forbidden } from '../../../framework/meta/errors.ts'
import { type ClusterName, groupResource, type KubeObject } from '../../../framework/meta/object.ts'
import { clusterScopedQuotaAnnotation } from '../../../kcp/annotations.ts'
import { coreGroup } from '../../../kcp/apigroups.ts'
import { resources } from '../../../kcp/resources.ts'
import type { WatchCache } from '../../cache/contract.ts'
import type { ControllerClient } from '../../controllers/client.ts'
import { QuotaCounts } from './quotacounts.ts'

export interface QuotaDeps {
  readonly client: ControllerClient
  readonly informers: Informers
}

/**
 * `ResourceQuota`: counts new objects against the quotas of their namespace and of their logical cluster. `status.used` is
 * written before the object: of two concurrent creations for the last place one is refused.
 */
export const resourceQuotaAdmission = ({ client, informers }: QuotaDeps): AdmissionPlugin => {
  const quotasOf = quotaIndex(informers.for(resources.resourceQuotas))
  const counts = new QuotaCounts(client)
  return {
    name: 'ResourceQuota',
    handles: { operations: ['CREATE'] },
    async validate(_ctx, request) {
      if (request.operation !== 'CREATE' || request.subresource !== '' || isExempt(request)) return
      const counted = countKey(request.group, request.resource)
      const limiting = quotasOf(request.key).filter(({ object }) =>
        isLimiting(object as ResourceQuota, counted),
      )
      // All quotas are checked before any is changed.
      for (const { object } of limiting) taken(request, object as ResourceQuota, counted)
      if (request.dryRun) return
      for (const { key } of limiting)
        await counts.take(key, current => taken(request, current as ResourceQuota, counted))
    },
  }
}

/** The quotas that count an object: those of its namespace, and those of its logical cluster. */
export function quotaIndex(quotas: Informer): (key: Namespace) => readonly Item[] {
  const quotasIn = quotas.index(({ key, object }) => [
    isOfCluster(object) ? wholeCluster(key) : `${key.cluster}/${key.namespace}`,
  ])
  return key => [
    ...(key.namespace === '' ? [] : quotasIn(`${key.cluster}/${key.namespace}`)),
    ...quotasIn(wholeCluster(key)),
  ]
}

const wholeCluster = ({ cluster }: Pick<Namespace, 'cluster'>): string => `${cluster}/`

const truths: readonly string[] = ['1', 't', 'T', 'true', 'TRUE', 'True']

/** Whether a quota limits its whole logical cluster (kcp-dev/kubernetes `pkg/controller/resourcequota/kcp.go`). */
export const isOfCluster = ({ metadata: { namespace, annotations = {} } }: KubeObject): boolean =>
  namespace === 'admin' && truths.includes(annotations[clusterScopedQuotaAnnotation] ?? '')

/** Created before quotas work in a new workspace (kcp `pkg/admission/kubequota`). */
const isExempt = ({ group, resource, key }: AdmissionAttributes): boolean =>
  (group === coreGroup && resource === 'logicalclusters') ||
  (resource === 'clusterrolebindings' && key.name === 'workspace-admin')

const isLimiting = (quota: ResourceQuota, counted: string): boolean =>
  isCounting(quota) && quota.status?.hard?.[counted] !== undefined

/** The quota with one more used; throws 403 when it is exceeded. */
function taken(request: AdmissionAttributes, quota: ResourceQuota, counted: string): ResourceQuota {
  const { hard = {}, used = {} } = quota.status ?? {}
  const { group, resource } = request
  const about = { group, resource, name: refusedName(request) }
  const { name } = quota.metadata
  const [limit, before] = [hard[counted], used[counted]]
  if (limit === undefined) return quota
  if (before === undefined) throw forbidden(about, `status unknown for quota: ${name}, resources: ${counted}`)
  const next = countOf(before) + 1
  if (next > countOf(limit))
    throw forbidden(
      about,
      `exceeded quota: ${name}, requested: ${counted}=1, used: ${counted}=${before}, limited: ${counted}=${limit}`,
    )
  return { ...quota, status: { ...quota.status, used: { ...used, [counted]: quantityOf(next) } } }
}

export interface ResourceQuota extends KubeObject {
  readonly spec?: {
    readonly hard?: Readonly<Record<string, string>>
    readonly scopes?: readonly string[]
    readonly scopeSelector?: { readonly matchExpressions?: readonly object[] }
  }
  readonly status?: {
    readonly hard?: Readonly<Record<string, string>>
    readonly used?: Readonly<Record<string, string>>
  }
}

/** The key of a quota: `count/configmaps`, `count/widgets.example.com`. kcp evaluates no other keys. */
export const countKey = (group: string, resource: string): string => `count/${groupResource(group, resource)}`

/** Quotas with scopes do not limit the number of objects. */
export const isCounting = ({ spec }: ResourceQuota): boolean =>
  (spec?.scopes ?? []).length === 0 && (spec?.scopeSelector?.matchExpressions ?? []).length === 0

const billion = 1_000_000_000

/** The number of a quantity; 0 for an invalid one. */
export function countOf(quantity: string | undefined): number {
  const parsed = parseQuantity(quantity ?? '')
  return typeof parsed === 'string' ? 0 : Number(parsed.nanos) / billion
}

const suffixes = ['', 'k', 'M', 'G']

/** As Kubernetes writes it: `1k` for 1000. */
export function quantityOf(count: number): string {
  let [rest, thousands] = [count, 0]
  for (; rest !== 0 && rest % 1000 === 0 && thousands < suffixes.length - 1; thousands++) rest /= 1000
  return `${rest}${suffixes[thousands]}`
}

/** How many objects a quota in this place counts for each of the keys. */
export function countsFor(
  cache: WatchCache,
  quota: ResourceQuota,
  keys: Iterable<string>,
  place: Namespace,
): ReadonlyMap<string, number> {
  const counts = new Map([...keys].map(key => [key, 0]))
  for (const each of cache.resources()) {
    const key = countKey(each.resource.group, each.resource.resource)
    const before = counts.get(key)
    if (before === undefined) continue
    const found = isOfCluster(quota)
      ? each.count(place.cluster)
      : each.countIn(place.cluster, place.namespace)
    counts.set(key, before + found)
  }
  return counts
}

export interface Namespace {
  readonly cluster: ClusterName
  readonly namespace: string
}
