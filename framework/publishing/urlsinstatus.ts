import { isDeepStrictEqual } from 'node:util'
import type { ResourceRef } from '../contract/backend.ts'
import type { UrlPublisher } from '../contract/workspace.ts'
import type { KubeObject } from '../meta/object.ts'
import type { Params } from '../request/path.ts'

/**
 * A publisher that lists the URLs of the view of each object in its status, as `status.<member>[].url`. The status must be a
 * subresource. `paramsOf`: the params of the view of an object; undefined for an object without one.
 *
 * ```ts
 * const targets = { group: 'example.com', version: 'v1', resource: 'synctargets' }
 * const publisher = urlsInStatus(targets, 'virtualWorkspaces', ({ metadata }) => ({ target: metadata.name ?? '' }))
 * ```
 */
export const urlsInStatus = <P extends Params>(
  objects: ResourceRef,
  member: string,
  paramsOf: (object: KubeObject) => P | undefined,
): UrlPublisher<P> => ({
  objects,
  dependsOn: [],
  views(object) {
    const params = paramsOf(object)
    return params === undefined ? [] : [params]
  },
  publish(object, urls) {
    const status = (object.status ?? {}) as Readonly<Record<string, unknown>>
    const listed = urls.map(url => ({ url }))
    const isSame = isDeepStrictEqual(status[member] ?? [], listed)
    return isSame ? object : { ...object, status: { ...status, [member]: listed } }
  },
})
