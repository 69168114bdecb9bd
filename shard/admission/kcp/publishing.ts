import type { AdmissionAttributes, AdmissionPlugin } from '../../../framework/contract/admission.ts'
import type { Authorizer } from '../../../framework/contract/authorizer.ts'
import type { RequestContext } from '../../../framework/contract/context.ts'
import type { APIExport } from '../../../kcp/apis.ts'
import type { ClusterCachedResource } from '../../../kcp/cache.ts'
import {
  cachedResources,
  printPublished,
  type ReadObjects,
  readingVerbs,
  resourceCached,
  viewsOffered,
} from '../../../kcp/publishing.ts'
import { concerns, refused } from '../refusal.ts'

const exports = 'apiexports.apis.kcp.io'

/**
 * A user can publish to other workspaces only what the user can read: the content of Views by an export, and resources by a
 * ClusterCachedResource. kcp has no such check, so that a user who may write these objects reads others through a workspace of their own.
 */
export const publishingAdmission = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'oriel.dev/Publishing',
  handles: { operations: ['CREATE', 'UPDATE'], resources: [exports, cachedResources] },
  async validate(ctx, request) {
    for (const objects of publishedBy(request)) await checkReads(authorizer, ctx, request, objects)
  },
})

function publishedBy(request: AdmissionAttributes): readonly ReadObjects[] {
  const { object, old } = request
  if (concerns(request, exports, ['CREATE', 'UPDATE']))
    return viewsOffered(object as APIExport, old as APIExport | undefined)
  return concerns(request, cachedResources, ['CREATE', 'UPDATE'])
    ? resourceCached(object as ClusterCachedResource, old as ClusterCachedResource | undefined)
    : []
}

async function checkReads(
  authorizer: Authorizer,
  ctx: RequestContext,
  request: AdmissionAttributes,
  objects: ReadObjects,
): Promise<void> {
  const { field, group, resource, subresource, name } = objects
  const target = { group, version: '*', resource, subresource, namespace: '', name }
  for (const verb of readingVerbs) {
    const action = { verb, cluster: request.key.cluster, resource: target }
    const { effect } = await authorizer.authorize(ctx.actAs, action, ctx.signal)
    if (effect !== 'allow')
      throw refused(
        request,
        `${field}: you can publish only what you can read: ${verb} on ${printPublished(objects)}`,
      )
  }
}
