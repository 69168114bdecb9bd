import type { ErrorSteps } from '../../framework/meta/errorsteps.ts'
import { type KubeObject, timestamp } from '../../framework/meta/object.ts'
import type { DefinedNames } from '../../kcp/apis.ts'
import { defaultCustomResourceDefinition, validateCustomResourceDefinition } from '../../openapi/crd/crd.ts'
import { nameErrors } from '../../openapi/crd/names.ts'
import { withMetadata } from './strategy.ts'

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

/** `status.conditions[]` of a CustomResourceDefinition. */
export interface CrdCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime?: string
}

interface CrdVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
}

export interface CrdSpec {
  readonly group: string
  readonly names: DefinedNames
  readonly scope: 'Namespaced' | 'Cluster'
  readonly versions: readonly CrdVersion[]
  readonly conversion?: { readonly strategy?: string }
}

export interface CrdStatus {
  readonly conditions?: readonly CrdCondition[]
  readonly acceptedNames?: Partial<DefinedNames>
  readonly storedVersions?: readonly string[]
}

/** `apiextensions.k8s.io/v1 CustomResourceDefinition`. */
export interface CustomResourceDefinition extends KubeObject {
  readonly spec: CrdSpec
  readonly status?: CrdStatus
}

export const asCrd = (object: KubeObject): CustomResourceDefinition => object as CustomResourceDefinition

export const conditionOf = (status: CrdStatus | undefined, type: string): CrdCondition | undefined =>
  status?.conditions?.find(condition => condition.type === type)

export const isEstablished = (crd: CustomResourceDefinition): boolean =>
  conditionOf(crd.status, 'Established')?.status === 'True'

/** The conditions with `next` set; its lastTransitionTime changes only with its status. */
export function withCondition(
  conditions: readonly CrdCondition[],
  next: Omit<CrdCondition, 'lastTransitionTime'>,
): readonly CrdCondition[] {
  const old = conditions.find(condition => condition.type === next.type)
  const since = old?.status === next.status ? old.lastTransitionTime : undefined
  const set: CrdCondition = { ...next, lastTransitionTime: since ?? timestamp() }
  return old ? conditions.map(c => (c === old ? set : c)) : [...conditions, set]
}

/** Defaults of names and conversion, and the stored versions, which the server records (rules.md 7.1, 7.43). */
export function prepareDefinition(object: KubeObject, old?: KubeObject): KubeObject {
  if (old === undefined) return defaultCustomResourceDefinition({ ...object, status: freshStatus })
  const next = asCrd(defaultCustomResourceDefinition({ ...object, status: old.status }))
  // Validation reports missing fields of the definition.
  const versions: readonly CrdVersion[] = (next as Partial<typeof next>).spec?.versions ?? []
  const storage = versions.filter(version => version.storage).map(version => version.name)
  const storedVersions = [...new Set([...(next.status?.storedVersions ?? []), ...storage])]
  return { ...next, status: { ...next.status, storedVersions } }
}

const freshStatus: CrdStatus = { conditions: [], acceptedNames: { plural: '', kind: '' } }

/** Adds the finalizer that keeps the definition until its instances are deleted (rules.md 7.48). */
export function startDefinitionDeletion(object: KubeObject): KubeObject {
  const finalizers = new Set([...(object.metadata.finalizers ?? []), cleanupFinalizer])
  const conditions = withCondition(asCrd(object).status?.conditions ?? [], {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  })
  const held = withMetadata(object, { finalizers: [...finalizers] })
  return { ...held, status: { ...(object.status as object), conditions } }
}

export const acceptedNameErrors = (object: KubeObject): ErrorSteps =>
  nameErrors(asCrd(object).status?.acceptedNames, 'status.acceptedNames')

/** Errors of a definition beyond its schema; not for `/status`, which cannot change it. */
export { validateCustomResourceDefinition as definitionErrors }
