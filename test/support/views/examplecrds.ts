import type { KubeObject } from '../../../framework/index.ts'

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

const definition = (
  group: string,
  version: string,
  names: Readonly<Record<string, string>>,
  scope: string,
): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${names.plural}.${group}` },
  spec: {
    group,
    names,
    scope,
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: anything },
      },
    ],
  },
})

/** The kinds of the example syncer. */
export const deployments = definition(
  'apps',
  'v1',
  { plural: 'deployments', singular: 'deployment', kind: 'Deployment', listKind: 'DeploymentList' },
  'Namespaced',
)
export const syncTargets = definition(
  'workload.example.com',
  'v1alpha1',
  { plural: 'synctargets', singular: 'synctarget', kind: 'SyncTarget', listKind: 'SyncTargetList' },
  'Cluster',
)
export const syncTarget: KubeObject = {
  apiVersion: 'workload.example.com/v1alpha1',
  kind: 'SyncTarget',
  metadata: { name: 'east' },
}

/** A Deployment for targets. That with the name `hidden` has the note `sesame`. */
export const deployment = (name: string, replicas: number, ...targets: readonly string[]): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name,
    namespace: 'default',
    annotations: { note: name === 'hidden' ? 'sesame' : 'hello' },
    labels: {
      app: 'web',
      ...Object.fromEntries(targets.map(each => [`target.workload.example.com/${each}`, 'sync'])),
    },
  },
  spec: { replicas },
})
