import { resourceOfKind } from '../../../framework/contract/apis.ts'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import { type MountIdentity, mountIdentityOf } from '../../../framework/contract/workspacetree.ts'
import type { ClusterName, KubeObject } from '../../../framework/meta/object.ts'
import type { APIBinding } from '../../../kcp/apis.ts'
import { resources } from '../../../kcp/resources.ts'
import type { Workspace } from '../../../kcp/tenancy.ts'
import { objectOnce } from '../../cache/item.ts'
import type { KcpControllerDeps } from '../host.ts'

/** `spec.mount` of a Workspace: the object that provides the URL of the workspace. */
export interface WorkspaceMount {
  readonly type?: string
  readonly ref: MountRef
  readonly identity: MountIdentity
}

/** The object that has the URL; in the same logical cluster as the Workspace. */
export interface MountRef {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

export const mountOf = (workspace: Workspace): WorkspaceMount | undefined => {
  const mount = workspace.spec?.mount as Partial<WorkspaceMount> | undefined
  if (mount?.ref === undefined) return undefined
  return { ...mount, ref: mount.ref, identity: mountIdentityOf(workspace) }
}

/** The stored resource of a kind. */
interface LocatedKind {
  readonly resource: ResourceRef
  readonly namespaced: boolean
}

/** The resource that a logical cluster serves for a kind, bound or its own; undefined when it serves none. */
export function locateKind(
  { apis, informers }: Pick<KcpControllerDeps, 'apis' | 'informers'>,
  cluster: ClusterName,
  ref: MountRef,
): LocatedKind | undefined {
  const served = resourceOfKind(apis(cluster), ref)
  if (served === undefined) return undefined
  const { group, version } = served
  const resource = served.names.plural
  const bindings = informers.for(resources.apiBindings).list(cluster)
  const identity = bindings.flatMap(item => identityIn(objectOnce(item) as APIBinding, group, resource))[0]
  return {
    resource: { group, version, resource, ...(identity === undefined ? {} : { identity }) },
    namespaced: served.namespaced,
  }
}

const identityIn = ({ status }: APIBinding, group: string, resource: string): readonly string[] =>
  (status?.boundResources ?? [])
    .filter(bound => bound.group === group && bound.resource === resource)
    .map(bound => bound.schema.identityHash)

/** The fields of a mount object that the controller reads. */
export interface MountState {
  readonly phase: string
  readonly url: string
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Any object that has `status.phase` and `status.URL` (or `status.url`); a workspace's URL is in its spec. */
export function mountState({ apiVersion = '', kind, spec, status }: KubeObject): MountState {
  const { phase, URL, url } = (status ?? {}) as Readonly<Record<string, unknown>>
  const isWorkspace = kind === 'Workspace' && apiVersion.startsWith('tenancy.kcp.io/')
  const own = isWorkspace ? (spec as { URL?: unknown } | undefined)?.URL : undefined
  return { phase: text(phase), url: text(own) || text(URL) || text(url) }
}
