import {
  managedFieldsOfScale,
  managedFieldsOfScaled,
  type ReplicasPaths,
} from '../../framework/apply/scale.ts'
import { inTurns, Pace } from '../../framework/async/awaitable.ts'
import { type AdmissionAttributes, optionsFor } from '../../framework/contract/admission.ts'
import type { RequestContext } from '../../framework/contract/context.ts'
import { type Item, itemOf } from '../../framework/contract/item.ts'
import type { ResourceStorage, WriteOptions } from '../../framework/contract/storage.ts'
import { goText, goType } from '../../framework/json/gotext.ts'
import { isMembers } from '../../framework/json/values.ts'
import { badRequest, type FieldError, internalError } from '../../framework/meta/errors.ts'
import { invalidValue } from '../../framework/meta/fielderror.ts'
import type { KubeObject, Metadata, ObjectKey } from '../../framework/meta/object.ts'
import { type Decodable, decodeSteps } from '../../framework/verbs/body.ts'
import { compileCached } from '../../openapi/compile.ts'
import type { ScalePaths } from '../../openapi/definitions/definition.ts'
import { scaleSchema } from '../../openapi/definitions/kubernetes/reviews.ts'
import type { RegistryAdmission } from '../admission/chain.ts'
import type { KindStrategy } from '../registry/strategy.ts'

type Members = Readonly<Record<string, unknown>>

const fieldsOf = (path: string): readonly string[] => path.split('.').filter(part => part !== '')

/** The path of the replicas in one version; undefined when it has no scale. */
export const replicasPath = (paths: ScalePaths | undefined): readonly string[] | undefined =>
  paths && fieldsOf(paths.specReplicasPath)

const valueAt = (object: unknown, path: string): unknown =>
  fieldsOf(path).reduce<unknown>((value, field) => (isMembers(value) ? value[field] : undefined), object)

function withValueAt(object: Members, [field, ...rest]: readonly string[], value: unknown): Members {
  if (field === undefined) return object
  const inner = object[field]
  return {
    ...object,
    [field]: rest.length === 0 ? value : withValueAt(isMembers(inner) ? inner : {}, rest, value),
  }
}

/**
 * A strategy that validates the fields of the Scale in every write of the object, as `ValidateScaleSpec` and
 * `ValidateScaleStatus` of apiextensions-apiserver's `registry/customresource/validator.go`.
 */
export function withScaleRules(strategy: KindStrategy, paths: ScalePaths): KindStrategy {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = '' } = paths
  const ofStatus = (object: KubeObject): readonly FieldError[] => [
    ...replicasErrors(object, statusReplicasPath),
    ...typeErrors(object, labelSelectorPath, ''),
  ]
  const validate = (object: KubeObject): readonly FieldError[] => [
    ...replicasErrors(object, specReplicasPath),
    ...ofStatus(object),
  ]
  return { ...strategy, validate, parts: { ...strategy.parts, status: { validate: ofStatus } } }
}

const mostReplicas = 2 ** 31 - 1

function replicasErrors(object: KubeObject, path: string): readonly FieldError[] {
  const errors = typeErrors(object, path, 0)
  const replicas = Number(errors.length > 0 ? 0 : (valueAt(object, path) ?? 0))
  if (replicas < 0) return [invalidValue(path, replicas, 'should be a non-negative integer')]
  if (replicas <= mostReplicas) return errors
  return [invalidValue(path, replicas, `should be less than or equal to ${mostReplicas}`)]
}

/** The error of a value of another type than `zero`, with the text of Go's `unstructured.NestedInt64` and `NestedString`. */
function typeErrors(object: KubeObject, path: string, zero: number | string): readonly FieldError[] {
  const value = path === '' ? undefined : valueAt(object, path)
  const expected = goType(zero)
  if (value === undefined || goType(value) === expected) return []
  const type = value === null ? '<nil>' : goType(value)
  return [
    invalidValue(
      path,
      zero,
      `${path} accessor error: ${goText(value)} is of the type ${type}, expected ${expected}`,
    ),
  ]
}

/** The `autoscaling/v1 Scale` of an object (rules.md 7.59). Throws 500 where the replicas are not set. */
function scaleOf(object: KubeObject, paths: ScalePaths): KubeObject {
  if (valueAt(object, paths.specReplicasPath) === undefined)
    throw internalError(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} does not exist`)
  return scaleWith(object, paths)
}

/** The same, with `unset` where the replicas are not set. */
function scaleWith(object: KubeObject, paths: ScalePaths, unset = 0): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const replicas = valueAt(object, paths.specReplicasPath) ?? unset
  const selector = paths.labelSelectorPath && valueAt(object, paths.labelSelectorPath)
  const metadata = Object.entries({ name, namespace, uid, resourceVersion, creationTimestamp })
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: Object.fromEntries(metadata.filter(([, value]) => value !== undefined)),
    // Go omits 0 replicas.
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: valueAt(object, paths.statusReplicasPath) ?? 0,
      ...(typeof selector === 'string' && selector !== '' ? { selector } : {}),
    },
  }
}

/** The replicas of a Scale before its update, where the object has none; the update has to set them. */
const notSet = -(2 ** 31)

/** The object with the replicas of a Scale, whose uid and resourceVersion are preconditions on the object. */
function scaled(object: KubeObject, scale: KubeObject, paths: ScalePaths): KubeObject {
  const replicas = valueAt(scale, 'spec.replicas') ?? 0
  if (replicas === notSet)
    throw badRequest(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} cannot be empty`)
  const { resourceVersion, uid } = scale.metadata
  const { resourceVersion: _, ...own } = object.metadata
  const metadata = {
    ...own,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(uid === undefined ? {} : { uid }),
  }
  return { ...(withValueAt(object, fieldsOf(paths.specReplicasPath), replicas) as KubeObject), metadata }
}

/** A Scale before its update, with the managedFields of its replicas. */
const withOwners = (scale: KubeObject, managedFields: Metadata['managedFields']): KubeObject =>
  managedFields === undefined ? scale : { ...scale, metadata: { ...scale.metadata, managedFields } }

function withoutOwners(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** The replicas of an object in one version, and their paths in all versions for its managedFields. */
export interface Scaling {
  readonly paths: ScalePaths
  readonly apiVersion: string
  readonly replicas: ReplicasPaths
}

/** Mutating admission of a Scale, before it becomes a change of the object. */
export type ScaleMutation = (
  ctx: RequestContext,
  scales: { readonly key: ObjectKey; readonly next: KubeObject; readonly old: KubeObject },
  options: WriteOptions,
) => Promise<KubeObject>

/** The storage below `/scale`: the same objects, seen as Scales. */
export function scaleStorage(
  storage: ResourceStorage,
  scaling: Scaling,
  mutate: ScaleMutation,
): ResourceStorage {
  const { paths, replicas, apiVersion } = scaling
  const shown = (item: Item): Item => itemOf(scaleOf(item.object, paths), item.key.cluster)
  return {
    ...storage,
    get: async (ctx, key) => shown(await storage.get(ctx, key)),
    async update(ctx, key, change, options) {
      const inner = async ({ object }: Item): Promise<KubeObject> => {
        const pace = new Pace()
        const { managedFields } = object.metadata
        const owners = await inTurns(managedFieldsOfScale(managedFields, replicas), pace)
        const old = withOwners(scaleWith(object, paths, notSet), owners)
        const next = await mutate(ctx, { key, next: await change(itemOf(old, key.cluster)), old }, options)
        const changed = next.metadata.managedFields
        const left = managedFieldsOfScaled(managedFields, changed, replicas, apiVersion)
        return withOwners(withoutOwners(scaled(object, next, paths)), await inTurns(left, pace))
      }
      return shown(await storage.update(ctx, key, inner, options))
    },
  }
}

/** A kind in one version for admission. */
export type ScaledKind = Pick<AdmissionAttributes, 'group' | 'resource' | 'version' | 'versions'>

const decodableScale: Decodable = {
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  schema: compileCached(scaleSchema),
  resource: { custom: false, names: { kind: 'Scale' } },
}

/** A Scale is the same in every version of the scaled kind. */
const asScale = ({ versions: { served }, ...kind }: ScaledKind) => ({
  ...kind,
  versions: {
    served,
    convert: async (scale: KubeObject) => scale,
    decode: async (scale: unknown) => (await inTurns(decodeSteps(scale, decodableScale), new Pace())).object,
  },
  subresource: 'scale',
})

/** Mutating admission gets the Scale that the client sent. */
export const scaleMutation =
  (admission: RegistryAdmission, kind: ScaledKind): ScaleMutation =>
  (ctx, { key, next, old }, { dryRun, asSent }) =>
    admission.mutate(ctx, {
      ...asScale(kind),
      operation: 'UPDATE',
      key,
      dryRun,
      ...optionsFor('UPDATE', asSent),
      object: next,
      old,
    })

/** Validating admission gets the resulting Scale; mutating admission ran before. */
export const scaleAdmission = (admission: RegistryAdmission, paths: ScalePaths): RegistryAdmission => ({
  ...admission,
  mutate: async (_, { object }) => object,
  validate: (ctx, request) =>
    admission.validate(ctx, {
      ...request,
      ...asScale(request),
      ...(request.object && { object: scaleWith(request.object, paths) }),
      ...(request.old && { old: scaleWith(request.old, paths) }),
    }),
})
