import type { KubeObject } from '../../framework/index.ts'
import type { EndpointSlice } from '../shared/exports/types.ts'

/** The parts of a ClusterCachedResource that the view reads. */
export interface ClusterCachedResource extends KubeObject {
  readonly spec: { readonly group?: string; readonly version?: string; readonly resource: string }
  readonly status?: { readonly identityHash?: string }
}

/** The parts of a ClusterCachedResourceEndpointSlice that are read and written. */
export interface CachedResourceSlice extends EndpointSlice {
  readonly spec: EndpointSlice['spec'] & {
    readonly clusterCachedResource: { readonly path?: string; readonly name: string }
  }
}

/** The params of the view's path: whose slice, and its name. */
export type SliceParams = { readonly provider: string; readonly slice: string }
