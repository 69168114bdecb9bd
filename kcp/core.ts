import type { KubeObject } from '../framework/meta/object.ts'
import type { Condition } from './conditions.ts'

// The kinds of core.kcp.io: the fields that Oriel reads or writes.

export type LogicalClusterPhase =
  | 'Scheduling'
  | 'Initializing'
  | 'Ready'
  | 'Unavailable'
  | 'Inactive'
  | 'Terminating'
  | 'Deleting'

/** The user who created a workspace. */
export interface WorkspaceCreator {
  readonly username: string
  readonly uid?: string
  readonly groups?: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export interface LogicalCluster extends KubeObject {
  readonly spec?: {
    readonly directlyDeletable?: boolean
    readonly owner?: {
      readonly apiVersion: string
      readonly resource: string
      readonly name: string
      readonly cluster: string
      readonly uid: string
    }
    readonly createdBy?: WorkspaceCreator
    readonly initializers?: readonly string[]
    readonly terminators?: readonly string[]
  }
  readonly status?: {
    readonly phase?: LogicalClusterPhase
    readonly URL?: string
    readonly initializers?: readonly string[]
    readonly terminators?: readonly string[]
    readonly conditions?: readonly Condition[]
  }
}

export interface Shard extends KubeObject {
  readonly spec?: {
    readonly baseURL: string
    readonly externalURL?: string
    readonly virtualWorkspaceURL?: string
  }
}
