import type { FieldError } from '../../framework/errors.ts'
import type { KubeObject } from '../../framework/object.ts'
import { checkStructural } from '../../openapi/structural.ts'
import { timestamp, withMetadata } from './strategy.ts'

export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

/** `status.conditions[]` of a CustomResourceDefinition. */
export interface CrdCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime?: string
}

export interface CrdNames {
  readonly plural: string
  readonly kind: string
  readonly singular?: string
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

interface CrdVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
}

export interface CrdSpec {
  readonly group: string
  readonly names: CrdNames
  readonly scope: 'Namespaced' | 'Cluster'
  readonly versions: readonly CrdVersion[]
  readonly conversion?: { readonly strategy?: string }
}

export interface CrdStatus {
  readonly conditions?: readonly CrdCondition[]
  readonly acceptedNames?: Partial<CrdNames>
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

/** The conditions with this one in its place; its time changes with its status only. */
export function withCondition(
  conditions: readonly CrdCondition[],
  next: Omit<CrdCondition, 'lastTransitionTime'>,
): readonly CrdCondition[] {
  const old = conditions.find(condition => condition.type === next.type)
  const since = old?.status === next.status ? old.lastTransitionTime : undefined
  const set: CrdCondition = { ...next, lastTransitionTime: since ?? timestamp() }
  return old ? conditions.map(c => (c === old ? set : c)) : [...conditions, set]
}

/** Names and conversion filled in, and storage versions recorded by the server (chapter 40, rules 7.1, 7.43). */
export function prepareDefinition(object: KubeObject, old?: KubeObject): KubeObject {
  const { spec } = asCrd(object)
  if (!Array.isArray(spec?.versions) || spec.names === undefined) return object
  const kind = spec.names.kind ?? ''
  const names = {
    ...spec.names,
    singular: spec.names.singular || kind.toLowerCase(),
    listKind: spec.names.listKind || `${kind}List`,
  }
  const conversion = spec.conversion ?? { strategy: 'None' }
  const stored = old === undefined ? [] : (asCrd(old).status?.storedVersions ?? [])
  const storage = spec.versions.find(version => version.storage)?.name
  const storedVersions = [...new Set([...stored, ...(storage === undefined ? [] : [storage])])]
  const status = old === undefined ? { conditions: [], acceptedNames: { plural: '', kind: '' } } : old.status
  return {
    ...object,
    spec: { ...spec, names, conversion },
    status: { ...(status as object), storedVersions },
  }
}

export const definitionErrors = (object: KubeObject): readonly FieldError[] =>
  asCrd(object).spec.versions.flatMap((version, i) =>
    checkStructural(
      (version as { schema?: { openAPIV3Schema?: unknown } }).schema?.openAPIV3Schema,
      `spec.versions[${i}].schema.openAPIV3Schema`,
    ),
  )

/** Instances go first: the finalizer keeps the definition until they have (chapter 40, rule 7.48). */
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
