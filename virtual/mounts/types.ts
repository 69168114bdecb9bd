import type { KubeObject } from '../../framework/index.ts'

export interface MountCondition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly severity?: 'Error'
  readonly lastTransitionTime: string
  readonly reason?: string
  readonly message?: string
}

export type MountPhase = 'Initializing' | 'Connecting' | 'Ready' | 'Unknown'

/** The fields of a KubeCluster that this view uses. */
export interface KubeCluster extends KubeObject {
  readonly spec: {
    readonly secretRef: { readonly name: string; readonly namespace?: string }
    readonly identity?: { readonly mode?: 'Impersonate' | 'Shared'; readonly prefix?: string }
  }
  readonly status?: {
    readonly URL?: string
    readonly phase?: MountPhase
    readonly lastProxyHeartbeatTime?: string
    readonly conditions?: readonly MountCondition[]
  }
}

export const mountGroup = 'mounts.contrib.kcp.io'
/** The export of `root` that workspaces bind to have KubeClusters, and to let their kubeconfigs be read. */
export const mountExport = { cluster: 'root', name: mountGroup }
