import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { ListQuery, Selection } from '../../framework/contract/storage.ts'
import type { ClusterScope } from '../../framework/meta/object.ts'
import { formatFieldSelector, formatLabelSelector } from '../../framework/selectors/selectors.ts'

/** The collection or the object of a request. */
export interface ResourceTarget {
  readonly cluster: ClusterScope
  readonly namespace?: string
  readonly name?: string
}

type Options = Readonly<Record<string, string | undefined>>

const segment = (text: string): string => encodeURIComponent(text)

/** `/clusters/<cluster>/apis/<group>/<version>/<resource>[:<identity>]…` with its query (kcp `pkg/server/filters/filters.go`). */
export function targetOf(ref: ResourceRef, place: ResourceTarget, options: Options = {}): string {
  const { group, version, resource, identity, subresource = '' } = ref
  const { cluster, namespace = '', name = '' } = place
  const path = [
    `/clusters/${cluster === '*' ? '*' : segment(cluster)}`,
    group === '' ? `api/${segment(version)}` : `apis/${segment(group)}/${segment(version)}`,
    ...(namespace === '' ? [] : [`namespaces/${segment(namespace)}`]),
    identity === undefined ? segment(resource) : `${segment(resource)}:${segment(identity)}`,
    ...(name === '' ? [] : [segment(name)]),
    ...(subresource === '' ? [] : [segment(subresource)]),
  ]
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(options)) if (value) query.set(key, value)
  return query.size === 0 ? path.join('/') : `${path.join('/')}?${query}`
}

/** Across all logical clusters a shard accepts a namespace as a field selector only, not in the path. */
export function collectionOf({ cluster, namespace = '' }: Selection): ResourceTarget {
  return cluster === '*' || namespace === '' ? { cluster } : { cluster, namespace }
}

/** The selectors of a list or watch as query parameters. */
export function selectorsOf({ cluster, namespace = '', labels, fields }: Selection): Options {
  const requirements = [...(fields?.requirements ?? [])]
  if (cluster === '*' && namespace !== '')
    requirements.push({ field: 'metadata.namespace', operator: '=', value: namespace })
  return {
    labelSelector: labels && formatLabelSelector(labels),
    fieldSelector: requirements.length === 0 ? undefined : formatFieldSelector({ requirements }),
  }
}

/** The query parameters of a list. */
export function listOptionsOf(query: ListQuery): Options {
  return {
    ...selectorsOf(query),
    limit: query.limit === undefined ? undefined : String(query.limit),
    continue: query.continue,
    resourceVersion: query.resourceVersion,
    resourceVersionMatch: query.resourceVersion === undefined ? undefined : query.match,
  }
}
