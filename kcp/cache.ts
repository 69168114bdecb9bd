import type { KubeObject } from '../framework/meta/object.ts'
import type { APIExportEndpointSlice } from './apis.ts'
import type { Condition } from './conditions.ts'
import type { PathReference } from './references.ts'
import type { MetaV1LabelSelector } from './selector.ts'

// The kinds of cache.kcp.io: the fields that Oriel reads or writes.

export interface ClusterCachedResource extends KubeObject {
  readonly spec: {
    readonly group?: string
    readonly version?: string
    readonly resource: string
    readonly identity?: { readonly secretRef?: { readonly name?: string; readonly namespace?: string } }
    readonly labelSelector?: MetaV1LabelSelector
  }
  readonly status?: {
    readonly identityHash?: string
    readonly phase?: 'Scheduling' | 'Initializing' | 'Ready' | 'Deleting' | 'Deleted'
    readonly resourceCounts?: { readonly cache: number; readonly local: number }
    readonly conditions?: readonly Condition[]
  }
}

export interface ClusterCachedResourceEndpointSlice extends KubeObject {
  readonly spec: {
    readonly clusterCachedResource: PathReference
    readonly export: PathReference
    readonly partition?: string
  }
  readonly status?: APIExportEndpointSlice['status']
}
