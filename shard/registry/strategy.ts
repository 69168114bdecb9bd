import { randomUUID } from 'node:crypto'
import type { ResetFields } from '../../framework/contract/apis.ts'
import { originAnnotation } from '../../framework/contract/item.ts'
import type { ValidationScope } from '../../framework/contract/schema.ts'
import { merged, Work } from '../../framework/json/json.ts'
import { sameJsonSteps } from '../../framework/json/same.ts'
import { badRequest, type FieldError } from '../../framework/meta/errors.ts'
import type { ErrorSteps } from '../../framework/meta/errorsteps.ts'
import { generatedName, type NameErrors } from '../../framework/meta/names.ts'
import { type KubeObject, type Metadata, type ObjectKey, timestamp } from '../../framework/meta/object.ts'
import { withoutSystemFields } from '../../framework/meta/objectmeta.ts'
import type { UserInfo } from '../../framework/request/user.ts'
import { clusterAnnotation } from '../../kcp/annotations.ts'
import { claimLabelPrefix } from '../../kcp/labels.ts'

/**
 * The changes that raise `metadata.generation`: none, all but those of metadata (custom resources), or those of `spec`.
 */
export type GenerationRule = 'none' | 'content' | 'spec'

/** The errors that the rules of a kind find beyond its schema: in steps where the object may be large. */
type OwnErrors = readonly FieldError[] | ErrorSteps

/** The errors, in steps. */
export function* stepsOf(found: OwnErrors = []): ErrorSteps {
  return 'next' in found ? yield* found : found
}

/**
 * How the registry handles one kind, beyond its schema: `RESTCreateStrategy` and `RESTUpdateStrategy` of
 * `k8s.io/apiserver/pkg/registry/rest`.
 */
export interface KindStrategy {
  /** A custom resource: PUT requires a resourceVersion, finalizers without a domain are warned about. */
  readonly custom: boolean
  readonly generation: GenerationRule
  /** Errors of a name; `prefix`: it is a generateName, which may end with a dash. */
  readonly nameErrors: NameErrors
  readonly unconditionalUpdate: boolean
  readonly createOnUpdate: boolean
  readonly deleteReturnsObject: boolean
  readonly resetFields?: ResetFields
  /** Whether propagation policies add finalizers; false for events. */
  readonly collected: boolean
  /** Defaults that a schema cannot express; they belong to the client's object, also for field management. */
  readonly complete?: (object: KubeObject) => KubeObject
  /** `PrepareForCreate` and `PrepareForUpdate`, after defaults. `old` is absent on create, `author` on update. */
  readonly prepare?: (object: KubeObject, old?: KubeObject, author?: UserInfo) => KubeObject
  /** `Validate` and `ValidateUpdate`: rules beyond the schema. */
  readonly validate?: (object: KubeObject, old?: KubeObject) => OwnErrors
  /** The strategies of subresources. */
  readonly parts?: { readonly [P in Exclude<Part, ''>]?: PartRules }
  /** Changes the object when its deletion begins. */
  readonly onDelete?: (object: KubeObject) => KubeObject
  /** Whether other fields than `metadata.finalizers` keep a terminating object. */
  readonly held?: (object: KubeObject) => boolean
}

/**
 * The part of an object that an endpoint writes: the main endpoint all but the status, a subresource its own part.
 */
export type Part = '' | 'status' | 'finalize' | 'approval'

/** The strategy of one subresource. */
interface PartRules {
  readonly prepare?: (object: KubeObject, old: KubeObject) => KubeObject
  readonly validate?: (object: KubeObject, old: KubeObject) => OwnErrors
}

/** The strategy of one resource in one version. */
export interface ResourceStrategy {
  readonly group: string
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
  /** There is a status subresource, so the main endpoint does not write status. */
  readonly status: boolean
  readonly rest: KindStrategy
}

/** Fields of metadata to set; undefined removes a field. */
type MetadataChanges = { readonly [K in keyof Metadata]?: unknown }

/** A copy of `object` with the changes to its metadata. */
export function withMetadata(object: KubeObject, changes: MetadataChanges): KubeObject {
  const all: Record<string, unknown> = merged(object.metadata, changes)
  const metadata: Record<string, unknown> = {}
  for (const field in all) if (all[field] !== undefined) metadata[field] = all[field]
  return { ...object, metadata }
}

function withoutField(object: KubeObject, field: string): KubeObject {
  if (!(field in object)) return object
  const { [field]: _, ...rest } = object
  return rest as KubeObject
}

/** Labels as they are stored: the server presents the labels of permission claims and does not store them. */
export function storedLabels(labels: Metadata['labels']): Metadata['labels'] {
  if (labels === undefined) return undefined
  const kept = Object.entries(labels).filter(([key]) => !key.startsWith(claimLabelPrefix))
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/**
 * The object without its resourceVersion and the labels that the server presents, and with the annotation of its
 * cluster.
 */
export const withoutPresented = (object: KubeObject, cluster: string): KubeObject =>
  withMetadata(object, {
    resourceVersion: undefined,
    selfLink: undefined,
    labels: storedLabels(object.metadata.labels),
    annotations: { ...object.metadata.annotations, [clusterAnnotation]: cluster },
  } as MetadataChanges)

/** A new object before admission, with its system fields set (`rest.FillObjectMetaSystemFields`; rules.md 3.1 to 3.3). */
export const withSystemFields = (
  strategy: ResourceStrategy,
  key: ObjectKey,
  object: KubeObject,
): KubeObject =>
  withOwnFields(object, key.cluster, {
    namespace: strategy.namespaced ? key.namespace : undefined,
    creationTimestamp: timestamp(),
    uid: randomUUID(),
  })

/**
 * A new object after mutating admission, with the system fields of the object before it: a webhook that chose the uid
 * could take that of an object of another logical cluster. Throws 400 for another namespace
 * (`rest.EnsureObjectNamespaceMatchesRequestNamespace`).
 */
export function keepSystemFields(admitted: KubeObject, before: KubeObject): KubeObject {
  const { namespace, creationTimestamp, uid, annotations } = before.metadata
  if (namespace && admitted.metadata.namespace && admitted.metadata.namespace !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  const cluster = annotations?.[clusterAnnotation] ?? ''
  return withOwnFields(admitted, cluster, { namespace, creationTimestamp, uid })
}

const withOwnFields = (object: KubeObject, cluster: string, fields: MetadataChanges): KubeObject =>
  withMetadata(withOrigin(withoutPresented(withoutSystemFields(object), cluster)), {
    ...fields,
    generation: undefined,
  })

/** The object with this origin, or none: no request makes an object a copy of one of another shard, or the reverse. */
function withOrigin(object: KubeObject, origin?: string): KubeObject {
  const { [originAnnotation]: sent, ...annotations } = object.metadata.annotations ?? {}
  if (sent === origin) return object
  const kept = origin === undefined ? annotations : { ...annotations, [originAnnotation]: origin }
  return withMetadata(object, { annotations: kept })
}

/**
 * `rest.BeforeCreate`, after admission: sets name and generation, drops status where it has its own endpoint (rules.md
 * 3.4, 3.8, 3.31).
 */
export function prepareForCreate(
  strategy: ResourceStrategy,
  object: KubeObject,
  author?: UserInfo,
): KubeObject {
  const { name, generateName } = object.metadata
  const named = name ? object : withMetadata(object, { name: generateName && generatedName(generateName) })
  const content = strategy.status ? withoutField(named, 'status') : named
  const generation = strategy.rest.generation === 'none' ? undefined : 1
  const counted = withMetadata(content, { generation })
  return strategy.rest.prepare?.(counted, undefined, author) ?? counted
}

/**
 * `rest.BeforeUpdate`: takes system fields and the parts of other endpoints from `old`, and raises the generation when
 * the content differs (rules.md 3.24, 3.29 to 3.32). In steps.
 */
export function* prepareForUpdate(
  strategy: ResourceStrategy,
  part: Part,
  next: KubeObject,
  old: KubeObject,
): Generator<void, KubeObject> {
  const { [clusterAnnotation]: cluster = '', [originAnnotation]: origin } = old.metadata.annotations ?? {}
  const scoped = ownPart(strategy, part, withOrigin(withoutPresented(next, cluster), origin), old)
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = old.metadata
  const { namespace, name } = old.metadata
  const kept = withMetadata(scoped, {
    // uid and deletionGracePeriodSeconds of a client are validated; deletionTimestamp is always kept.
    ...filled(scoped.metadata, { uid, deletionGracePeriodSeconds }),
    ...(deletionTimestamp && { deletionTimestamp }),
    creationTimestamp,
    generation,
    namespace,
    name,
  })
  const prepared = rulesOf(strategy, part)?.prepare?.(kept, old) ?? kept
  const raised = generation !== undefined && (yield* raisesGeneration(strategy, prepared, old))
  return raised ? withMetadata(prepared, { generation: generation + 1 }) : prepared
}

/** How the schema validates a write of one endpoint: duplicate items are checked for custom resources only. */
export const scopeOf = ({ rest }: ResourceStrategy, part: Part): ValidationScope =>
  rest.custom ? { onlyStatus: part === 'status' } : { mayRepeat: true }

/** The strategy for writes of one endpoint. */
export const rulesOf = ({ rest }: ResourceStrategy, part: Part): PartRules | undefined =>
  part === '' ? rest : rest.parts?.[part]

const filled = (own: Metadata, old: MetadataChanges): MetadataChanges => {
  const said = Object.entries(own).filter(([field]) => field in old)
  return { ...old, ...Object.fromEntries(said) }
}

function ownPart(strategy: ResourceStrategy, part: Part, next: KubeObject, old: KubeObject): KubeObject {
  if (part === '') return strategy.status ? withField(next, 'status', old.status) : next
  // Each write updates managedFields.
  const { managedFields } = next.metadata
  const { metadata } = writesMetadata(strategy, part) ? next : withMetadata(old, { managedFields })
  const rest = { ...old, metadata }
  if (part === 'finalize') return withField(rest, 'spec', withSpecFinalizers(old, next))
  return withField(rest, 'status', next.status)
}

const writesMetadata = ({ rest }: ResourceStrategy, part: Part): boolean =>
  rest.resetFields?.[part]?.every(([field]) => field !== 'metadata') ?? false

const withField = (object: KubeObject, field: string, value: unknown): KubeObject =>
  value === undefined ? withoutField(object, field) : { ...object, [field]: value }

/** Namespaces: `/finalize` changes `spec.finalizers` and nothing else. */
const withSpecFinalizers = (old: KubeObject, next: KubeObject): object => ({
  ...(old.spec as object | undefined),
  finalizers: (next.spec as { finalizers?: unknown } | undefined)?.finalizers ?? [],
})

function* raisesGeneration(
  { rest: { generation }, status }: ResourceStrategy,
  next: KubeObject,
  old: KubeObject,
): Generator<void, boolean> {
  if (generation === 'none') return false
  const content = (object: KubeObject): unknown => {
    if (generation === 'spec') return object.spec
    const { metadata: _, ...rest } = status ? withoutField(object, 'status') : object
    return rest
  }
  return !(yield* sameJsonSteps(content(next), content(old), new Work()))
}

/** Whether finalizers keep an object that is being deleted. */
export const isHeld = ({ rest }: ResourceStrategy, object: KubeObject): boolean =>
  (object.metadata.finalizers?.length ?? 0) > 0 || (rest.held?.(object) ?? false)

/**
 * `rest.BeforeDelete`: the object marked for deletion; the same object when it is marked already (rules.md 3.33, 6.10).
 */
export function startDeletion(strategy: ResourceStrategy, object: KubeObject): KubeObject {
  if (object.metadata.deletionTimestamp !== undefined) return object
  const { generation } = object.metadata
  const marked = withMetadata(object, {
    deletionTimestamp: timestamp(),
    deletionGracePeriodSeconds: 0,
    generation: generation === undefined || generation === 0 ? generation : generation + 1,
  })
  return strategy.rest.onDelete?.(marked) ?? marked
}

export const orphanFinalizer = 'orphan'
export const foregroundFinalizer = 'foregroundDeletion'

/**
 * The finalizers for a propagation policy: both of the garbage collector's removed, then the wanted one appended
 * (rules.md 6.13).
 */
export function propagationFinalizers(
  finalizers: readonly string[] | undefined,
  propagation: 'Background' | 'Foreground' | 'Orphan' | undefined,
): readonly string[] | undefined {
  if (propagation === undefined) return finalizers
  const others = (finalizers ?? []).filter(f => f !== orphanFinalizer && f !== foregroundFinalizer)
  if (propagation === 'Foreground') others.push(foregroundFinalizer)
  if (propagation === 'Orphan') others.push(orphanFinalizer)
  return others.length === 0 ? undefined : others
}
