import type { Informers } from '../../framework/contract/informer.ts'
import type { ResourceStorage } from '../../framework/contract/storage.ts'
import type { VirtualWorkspace } from '../../framework/contract/workspace.ts'
import { internalError } from '../../framework/meta/errors.ts'
import { type ClusterName, type GroupVersionResource, groupResource } from '../../framework/meta/object.ts'
import { viewsGroup } from '../../kcp/apigroups.ts'
import { resources } from '../../kcp/resources.ts'
import { type Offer, unresolved } from './slices.ts'

/** The resources that View objects show. The server that serves them sets its views after the shard is open. */
export class ViewedResources {
  #views: VirtualWorkspace | undefined

  use(served: readonly VirtualWorkspace[]): void {
    this.#views = served.find(({ name }) => name === 'views')
  }

  /** undefined when the View does not show the resource in this version. */
  storage(
    owner: ClusterName,
    view: string,
    { group, version, resource }: GroupVersionResource,
  ): ResourceStorage | undefined {
    return this.#views?.apis({ owner, view }, owner)?.find(group, version, resource)?.storage
  }
}

export const isOfView = ({ virtual: { reference } }: Offer): boolean =>
  reference.apiGroup === viewsGroup && reference.kind === 'View'

/**
 * The objects that a View of the provider shows of its own workspace. `identityHash` has to be the uid of the View. Throws
 * 500 with what the provider has to change.
 */
export function viewedBy(
  { informers, viewed }: { readonly informers: Informers; readonly viewed: ViewedResources | undefined },
  { resource, provider, virtual }: Offer,
): ResourceStorage {
  const { name } = virtual.reference
  const view = informers.for(resources.views).get(provider, '', name)
  if (view === undefined || view.meta.uid !== virtual.identityHash) throw unresolved(resource)
  const { source } =
    (view.object as { readonly spec?: { readonly source?: { readonly cluster?: string } } }).spec ?? {}
  const of = `${groupResource(resource.group, resource.resource)} of the View ${JSON.stringify(name)}`
  if (source?.cluster !== '.')
    throw internalError(`${of} cannot be bound: spec.source of the View must be "cluster: ."`)
  const storage = viewed?.storage(provider, name, resource)
  if (storage === undefined)
    throw internalError(`${of} cannot be read: the View does not serve it in version ${resource.version}`)
  return storage
}
