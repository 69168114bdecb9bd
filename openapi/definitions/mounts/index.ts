import type { KindDefinition } from '../definition.ts'
import { kubeCluster } from './kubecluster.ts'

/** Kinds whose objects can be mounted, with a provider in this repository. */
export const mountKinds: readonly KindDefinition[] = [kubeCluster]
