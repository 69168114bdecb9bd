import type { ClusterName } from '../../framework/object.ts'
import { resources } from '../controllers/objects.ts'
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
