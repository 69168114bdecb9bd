import {
  type AdmissionAttributes,
  type AdmissionPlugin,
  refusedName,
} from '../../../framework/contract/admission.ts'
import type { Informers } from '../../../framework/contract/informer.ts'
import { parseQuantity } from '../../../framework/formats/quantity.ts'
import { forbidden } from '../../../framework/meta/errors.ts'
import { type ClusterName, groupResource, type KubeObject } from '../../../framework/meta/object.ts'
import { resources } from '../../../kcp/resources.ts'
import type { WatchCache } from '../../cache/watchcache.ts'
import { type ControllerClient, updateStatus } from '../../controllers/client.ts'

export interface QuotaDeps {
  readonly client: ControllerClient
  readonly informers: Informers
}

/**
 * `ResourceQuota`: counts new objects against the quotas of their namespace. `status.used` is written before the object:
 * of two concurrent creations for the last place one is refused.
 */
export const resourceQuotaAdmission = ({ client, informers }: QuotaDeps): AdmissionPlugin => {
  const quotasIn = informers
    .for(resources.resourceQuotas)
    .index(({ key }) => [`${key.cluster}/${key.namespace}`])
  return {
    name: 'ResourceQuota',
    handles: { operations: ['CREATE'] },
    async validate(_ctx, request) {
      const { operation, subresource, group, resource, key } = request
      if (operation !== 'CREATE' || subresource !== '' || key.namespace === '') return
      const counted = countKey(group, resource)
      const limiting = quotasIn(`${key.cluster}/${key.namespace}`).filter(({ object }) =>
        isLimiting(object as ResourceQuota, counted),
      )
      // All quotas are checked before any is changed.
      for (const { object } of limiting) taken(request, object as ResourceQuota, counted)
      if (request.dryRun) return
      for (const quota of limiting)
        await updateStatus<ResourceQuota>(client, resources.resourceQuotas, quota.key, current =>
          taken(request, current, counted),
        )
    },
  }
}

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
    readonly scopeSelector?: object
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
  (spec?.scopes ?? []).length === 0 && spec?.scopeSelector === undefined

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

/** How many objects of a resource there are in a namespace. */
export function countIn(cache: WatchCache, key: string, place: Namespace): number {
  let count = 0
  for (const each of cache.resources()) {
    const { group, resource } = each.resource
    if (countKey(group, resource) === key) count += each.countIn(place.cluster, place.namespace)
  }
  return count
}

export interface Namespace {
  readonly cluster: ClusterName
  readonly namespace: string
}
