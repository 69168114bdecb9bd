import type { Host, KubeObject, UrlPublisher } from '../../framework/index.ts'
import { logicalClusterOf, resources } from '../../kcp/index.ts'
import { withEndpoints } from '../shared/exports/endpoints.ts'
import type { ViewApis } from './apis.ts'
import { isOwnSource, ownSources } from './sources.ts'
import type { ViewParams } from './types.ts'

/** Publishes the URL of every View that serves a resource. */
export const viewPublisher = (apis: ViewApis, { informers }: Host): UrlPublisher<ViewParams> => ({
  objects: resources.views,
  dependsOn: [resources.apiExports, resources.apiResourceSchemas, ...ownSources],
  // Exports and schemas of other logical clusters are those of claims.
  dependents: changed =>
    informers.for(resources.views).list(isOwnSource(changed) ? logicalClusterOf(changed) : undefined),
  // `oriel virtual-workspaces` does not serve Views.
  isOnlyHere: true,
  views(object) {
    const params = paramsOf(object)
    return apis.of(params)?.set.resources.length ? [params] : []
  },
  publish: withEndpoints,
})

const paramsOf = (object: KubeObject): ViewParams => ({
  owner: logicalClusterOf(object),
  view: object.metadata.name ?? '',
})
