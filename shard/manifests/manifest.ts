import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'

import { resources } from '../../kcp/resources.ts'

/**
 * An object that every start creates or updates. Objects with the annotation `bootstrap.kcp.io/create-only` are
 * only created. Status and uid of a manifest are used only at its creation.
 */
export interface Manifest {
  readonly cluster: ClusterName
  readonly resource: ResourceRef
  readonly object: KubeObject
}

export const createOnlyAnnotation = 'bootstrap.kcp.io/create-only'

/** A namespace as it is stored. */
export const namespace = (cluster: ClusterName, name: string): Manifest => ({
  cluster,
  resource: resources.namespaces,
  object: {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  },
})
