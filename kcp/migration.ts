import type { KubeObject } from '../framework/meta/object.ts'
import { movedAnnotation } from './annotations.ts'
import type { Condition } from './conditions.ts'

// The kinds of migration.kcp.io (kcp `sdk/apis/migration/v1alpha1`).

export type MigrationPhase =
  | 'Preparing'
  | 'Migrating'
  | 'OriginCleanup'
  | 'DestinationFinalize'
  | 'Completed'
  | 'Failed'

export interface LogicalClusterMigration extends KubeObject {
  readonly spec?: { readonly logicalCluster?: string; readonly destinationShard?: string }
  readonly status?: MigrationStatus
}

export interface MigrationStatus {
  readonly phase?: MigrationPhase
  readonly originShard?: string
  readonly entriesCopied?: number
  /** The token of the next page of the dump; '' before the first and after the last one. */
  readonly dumpContinue?: string
  readonly conditions?: readonly Condition[]
}

/** A page of the stored entries of a logical cluster. */
export interface LogicalClusterDump extends KubeObject {
  readonly spec?: {
    readonly continue?: string
    readonly limit?: number
    readonly maxBytes?: number
  }
  readonly status?: {
    readonly entries?: readonly DumpEntry[]
    /** Absent on the last page. */
    readonly continue?: string
  }
}

/** A stored entry: its key without the prefix of the store, and its bytes in base64. */
export interface DumpEntry {
  readonly key: string
  readonly value: string
}

/** The path of dumps in a logical cluster. */
export const dumpsPath = '/apis/migration.kcp.io/v1alpha1/logicalclusterdumps'
/** On a LogicalClusterDump: the format of the entries. Those of kcp do not have it. */
export const entriesAnnotation = 'internal.oriel.dev/entries'
/** The format of the entries of this version of Oriel: `shard/cache/codec.ts`. */
export const entriesFormat = '1'

type Annotations = Readonly<Record<string, string>>

/** The numbers in the annotation of a LogicalCluster that has moved. */
export const movedNumbers = (annotations: Annotations): readonly number[] =>
  (annotations[movedAnnotation] ?? '').split(',').map(Number)

/** How often a logical cluster has moved: of two shards that both seem to have it, the one with more moves has it now. */
export function movesIn(annotations: Annotations): number {
  const [here = 0, , moves = 1] = movedNumbers(annotations)
  return here > 0 ? moves : 0
}
