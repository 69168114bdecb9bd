import type { KubeObject } from '../framework/meta/object.ts'
import type { Condition } from './conditions.ts'
import type { MetaV1LabelSelector } from './selector.ts'

// The kinds of topology.kcp.io: the fields that Oriel reads or writes.

export interface Partition extends KubeObject {
  readonly spec?: { readonly selector?: MetaV1LabelSelector }
}

export interface PartitionSet extends KubeObject {
  readonly spec?: {
    /** Keys of labels of shards. */
    readonly dimensions?: readonly string[]
    readonly shardSelector?: MetaV1LabelSelector
  }
  readonly status?: { readonly count?: number; readonly conditions?: readonly Condition[] }
}
