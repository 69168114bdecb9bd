import type { StatusError } from '../meta/errors.ts'
import type { ClusterName, ClusterScope } from '../meta/object.ts'
import type { VerbRequest } from '../request/response.ts'
import type { ApiSet } from './apis.ts'
import type { Authorizer } from './authorizer.ts'
import type { RequestContext } from './context.ts'
import type { ResourceStorage } from './storage.ts'
import type { Place } from './workspacetree.ts'

/** A resource in a backend: group, version and plural name. */
export interface ResourceRef {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource?: string
  /** For bound resources: the identity hash of their APIExport (kcp `sdk/apis/apis/v1alpha1`, `APIExportStatus.identityHash`). */
  readonly identity?: string
}

/** A response of the backend to a forwarded request. */
export interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: AsyncIterable<Buffer>
}

/** The source of objects: the embedded shard, or a client of a remote one. Views work with both. */
export interface Backend {
  readonly authorizer: Authorizer
  /** Returns the same object for the same ref. Unknown resources have empty lists, and watches without events. */
  storage(resource: ResourceRef): ResourceStorage
  /** The resources of a logical cluster; undefined for an unknown cluster. `*`: built-in and system kinds. */
  apis(cluster: ClusterScope): ApiSet | undefined
  /** `root:org:team` → `k3x9…`; a cluster name resolves to itself when the cluster exists. */
  resolve(path: string): ClusterName | undefined
  /** Like `resolve`, with mounted and unavailable workspaces; undefined for unknown paths. Absent without mounts. */
  place?(path: string): Place | undefined
  /** The error for a request to a logical cluster that does not accept it now; undefined: it accepts it. */
  refusal?(
    cluster: ClusterScope,
    request: Pick<RequestContext, 'info' | 'user'>,
    query: URLSearchParams,
  ): StatusError | undefined
  /**
   * Like `refusal`, but before authorization: for a logical cluster that moves from or to another server, whose roles are not all
   * here.
   */
  refusalToAll?: Backend['refusal']
  /**
   * Resolves when reads show every change that any server of the installation acknowledged before the call; at once with
   * undefined when they always do. Throws 503 and 504. Absent: they always do.
   */
  caughtUp?(signal: AbortSignal): Promise<void> | undefined
  /** Forwards a request as `ctx.actAs`. `request` has no credentials and no impersonation headers. */
  forward(ctx: RequestContext, request: VerbRequest): Promise<RawResponse>
}
