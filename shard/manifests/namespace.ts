import type { ClusterName } from '../../framework/meta/object.ts'
import { resources } from '../../kcp/resources.ts'
import type { Manifest } from './manifest.ts'

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
