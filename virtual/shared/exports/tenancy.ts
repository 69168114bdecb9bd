import type { Informer, ResourceRef } from '../../../framework/index.ts'
import { firstFound } from '../../../framework/informers/firstfound.ts'
import { type APIExport, exportedResources, rootCluster, tenancyGroup } from '../../../kcp/index.ts'

type TenancyRef = ResourceRef & { readonly identity: string }

/** Workspaces as they are stored: under the identity of root's tenancy export; undefined before there is one. */
export const workspacesRef = (exports: Informer): TenancyRef | undefined =>
  withIdentity(exports, exportedResources.workspaces)

/** Workspace types as they are stored. Throws an `Error` before root has its tenancy export. */
export function workspaceTypesRef(exports: Informer): TenancyRef {
  const ref = withIdentity(exports, exportedResources.workspaceTypes)
  if (ref === undefined) throw new Error(`root does not export ${tenancyGroup}`)
  return ref
}

/** Resolves when root has its tenancy export: the views may start before the root shard. */
export const tenancyExported = async (exports: Informer): Promise<void> =>
  void (await firstFound(exports, () => workspacesRef(exports)))

function withIdentity(exports: Informer, ref: ResourceRef): TenancyRef | undefined {
  const tenancy = exports.get(rootCluster, '', tenancyGroup)?.object as APIExport | undefined
  const identity = tenancy?.status?.identityHash
  return identity ? { ...ref, identity } : undefined
}
