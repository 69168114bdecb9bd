import type { Host, KubeObject, UrlPublisher } from '../../framework/index.ts'
import { resources } from '../../kcp/index.ts'
import { clusterOf } from '../shared/exports/exports.ts'
import type { ViewApis } from './apis.ts'
import { isOwnSource, ownSources } from './sources.ts'
import type { ViewObject, ViewParams } from './types.ts'

/** Publishes the URL of every View that serves a resource. */
export const viewPublisher = (apis: ViewApis, { informers }: Host): UrlPublisher<ViewParams> => ({
  objects: resources.views,
  dependsOn: [resources.apiExports, resources.apiResourceSchemas, ...ownSources],
  // Exports and schemas of other logical clusters are those of claims.
  dependents: changed =>
    informers.for(resources.views).list(isOwnSource(changed) ? clusterOf(changed) : undefined),
  // `oriel virtual-workspaces` does not serve Views.
  isOnlyHere: true,
  views(object) {
    const params = paramsOf(object)
    return apis.of(params)?.set.resources.length ? [params] : []
  },
  publish: withUrls,
})

const paramsOf = ({ metadata }: KubeObject): ViewParams => ({
  owner: metadata.annotations?.['kcp.io/cluster'] ?? '',
  view: metadata.name ?? '',
})

/** The same object when nothing changes. */
function withUrls(object: KubeObject, urls: readonly string[]): KubeObject {
  const { status } = object as ViewObject
  const current = status?.endpoints ?? []
  if (current.length === urls.length && current.every(({ url }, i) => url === urls[i])) return object
  return { ...object, status: { ...status, endpoints: urls.map(url => ({ url })) } }
}
