import type { KubeCluster } from './types.ts'

/** The user that requests of a KubeCluster have at its cluster. */
export interface ClusterIdentity {
  /** `Impersonate`: the caller, by Impersonate headers. `Shared`: the user of the kubeconfig. */
  readonly mode: 'Impersonate' | 'Shared'
  /** Of the names and groups of impersonated users. */
  readonly prefix: string
}

/** `spec.identity`, with its defaults. */
export const clusterIdentityOf = ({ spec }: Pick<KubeCluster, 'spec'>): ClusterIdentity => ({
  mode: spec.identity?.mode ?? 'Impersonate',
  prefix: spec.identity?.prefix || 'oriel:',
})
