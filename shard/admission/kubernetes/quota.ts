import { parseQuantity } from '../../../framework/formats/quantity.ts'
import type { ClusterName, KubeObject } from '../../../framework/meta/object.ts'
import { groupResource } from '../../../framework/meta/object.ts'
import type { WatchCache } from '../../cache/watchcache.ts'

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

/** `count/configmaps`, `count/widgets.example.com`: what a quota limits. kcp evaluates nothing else. */
export const countKey = (group: string, resource: string): string => `count/${groupResource(group, resource)}`

/** No scope says anything about the number of objects: such quotas limit nothing. */
export const isCounting = ({ spec }: ResourceQuota): boolean =>
  (spec?.scopes ?? []).length === 0 && spec?.scopeSelector === undefined

const billion = 1_000_000_000

/** A whole number; what is not one counts as 0. */
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
