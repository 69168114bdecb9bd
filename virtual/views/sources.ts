import type { KubeObject, ResourceRef } from '../../framework/index.ts'
import { resources } from '../../kcp/index.ts'

/** The objects that decide which resources a logical cluster serves. */
export const ownSources: readonly ResourceRef[] = [
  resources.apiBindings,
  { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
]

/** Whether an object decides only about its own logical cluster. */
export const isOwnSource = ({ kind }: KubeObject): boolean =>
  kind === 'APIBinding' || kind === 'CustomResourceDefinition'
