import type { KubeObject } from '../../../framework/index.ts'

/** The kind of mount object in the example of the documentation of mounts. */
export const remoteClusters = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'remoteclusters.example.io' },
  spec: {
    group: 'example.io',
    names: { plural: 'remoteclusters', singular: 'remotecluster', kind: 'RemoteCluster' },
    scope: 'Cluster',
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    ],
  },
}

/** A mount object and the workspace that mounts it. */
export const mount = (name: string, URL: string, type?: string, phase = 'Ready'): readonly KubeObject[] => [
  { apiVersion: 'example.io/v1alpha1', kind: 'RemoteCluster', metadata: { name }, status: { phase, URL } },
  {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name },
    spec: {
      mount: {
        ...(type && { type }),
        ref: { apiVersion: 'example.io/v1alpha1', kind: 'RemoteCluster', name },
      },
    },
  },
]
