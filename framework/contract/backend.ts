import type { StatusError } from '../meta/errors.ts'
import type { ClusterName, ClusterScope } from '../meta/object.ts'
import type { RequestInfo } from '../request/requestinfo.ts'
import type { VerbRequest } from '../request/response.ts'
import type { ApiSet } from './apis.ts'
import type { Authorizer } from './authorizer.ts'
import type { RequestContext } from './context.ts'
import type { ResourceStorage } from './storage.ts'
import type { Place } from './workspacetree.ts'

/** One resource as a backend stores it. */
export interface ResourceRef {
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource?: string
  /** For bound resources: the identity hash of the export whose objects these are (chapter 20, section 5.3). */
  readonly identity?: string
}

/** A response that is passed on as it came. */
export interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: AsyncIterable<Buffer>
}

/** Where the objects are. In process or in front of a remote shard, only this differs. */
export interface Backend {
  readonly authorizer: Authorizer
  /** The same object for the same ref. Resources that nobody serves list as empty and stay silent on watch. */
  storage(resource: ResourceRef): ResourceStorage
  /** What a logical cluster serves; undefined when there is no such cluster. `*`: built-in and system kinds. */
  apis(cluster: ClusterScope): ApiSet | undefined
  /** `root:org:team` → `k3x9…`; a cluster name resolves to itself when the cluster exists. */
  resolve(path: string): ClusterName | undefined
  /**
   * Where a path of workspaces leads, mounts and links included; undefined: nowhere. Without it there are no mounts, and
   * `resolve` says it all.
   */
  place?(path: string): Place | undefined
  /** Why nobody may enter a logical cluster with such a request now, whatever his rights; undefined: nothing is the matter. */
  refusal?(cluster: ClusterScope, info: RequestInfo): StatusError | undefined
  /** The escape hatch: bytes in, bytes out, as `ctx.actAs`. `request` has no credentials and no asserted identity. */
  forward(ctx: RequestContext, request: VerbRequest): Promise<RawResponse>
}
