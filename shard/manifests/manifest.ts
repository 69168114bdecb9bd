import type { ResourceRef } from '../../framework/contract/backend.ts'
import type { ClusterName, KubeObject } from '../../framework/meta/object.ts'

import { resources } from '../../kcp/resources.ts'

/**
 * One object that every start makes sure of. What is stored is brought back to what the manifest says, except for
 * objects that carry the annotation `bootstrap.kcp.io/create-only` (chapter 20, section 9.1). A manifest's status and
 * uid count only when the object is made.
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
