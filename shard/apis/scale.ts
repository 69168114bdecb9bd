import {
  managedFieldsOfScale,
  managedFieldsOfScaled,
  type ReplicasPaths,
} from '../../framework/apply/scale.ts'
import { isMembers } from '../../framework/encoding/json.ts'
import { internalError, invalid } from '../../framework/errors.ts'
import { type Item, itemOf } from '../../framework/item.ts'
import type { KubeObject, Metadata } from '../../framework/object.ts'
import type { ResourceStorage } from '../../framework/storage.ts'
import type { ScalePaths } from '../../openapi/definitions/definition.ts'

type Members = Readonly<Record<string, unknown>>

const fieldsOf = (path: string): readonly string[] => path.split('.').filter(part => part !== '')

/** Where a version keeps its replicas; undefined when it has no scale. */
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

/** `autoscaling/v1 Scale` of an object (chapter 40, rule 7.59). Throws 500 where the replicas are not set. */
function scaleOf(object: KubeObject, paths: ScalePaths): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const replicas = valueAt(object, paths.specReplicasPath)
  if (replicas === undefined)
    throw internalError(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} does not exist`)
  const selector = paths.labelSelectorPath && valueAt(object, paths.labelSelectorPath)
  const metadata = Object.entries({ name, namespace, uid, resourceVersion, creationTimestamp })
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: Object.fromEntries(metadata.filter(([, value]) => value !== undefined)),
    // Go leaves out no replicas.
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: valueAt(object, paths.statusReplicasPath) ?? 0,
      ...(typeof selector === 'string' && selector !== '' ? { selector } : {}),
    },
  }
}

/** The object with the replicas of a Scale, whose uid and resourceVersion are preconditions on the object. */
function scaled(object: KubeObject, scale: KubeObject, paths: ScalePaths): KubeObject {
  const replicas = valueAt(scale, 'spec.replicas') ?? 0
  if (typeof replicas !== 'number' || replicas < 0) {
    const [group = ''] = object.apiVersion.split('/')
    const detail = 'should be a non-negative integer'
    throw invalid(object.kind, group, object.metadata.name ?? '', [
      { type: 'FieldValueInvalid', field: paths.specReplicasPath, value: replicas, detail },
    ])
  }
  const { resourceVersion, uid } = scale.metadata
  const { resourceVersion: _, ...own } = object.metadata
  const metadata = {
    ...own,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(uid === undefined ? {} : { uid }),
  }
  return { ...(withValueAt(object, fieldsOf(paths.specReplicasPath), replicas) as KubeObject), metadata }
}

/** A Scale that is about to change: it says who owns the replicas. */
const withOwners = (scale: KubeObject, managedFields: Metadata['managedFields']): KubeObject =>
  managedFields === undefined ? scale : { ...scale, metadata: { ...scale.metadata, managedFields } }

function withoutOwners(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** One version's view on the replicas of an object; the other versions say how to read its managedFields. */
export interface Scaling {
  readonly paths: ScalePaths
  readonly apiVersion: string
  readonly replicas: ReplicasPaths
}

/** The storage below `/scale`: the same objects, seen as Scales. */
export function scaleStorage(storage: ResourceStorage, scaling: Scaling): ResourceStorage {
  const { paths, replicas, apiVersion } = scaling
  const shown = (item: Item): Item => itemOf(scaleOf(item.object, paths), item.key.cluster)
  return {
    ...storage,
    get: async (ctx, key) => shown(await storage.get(ctx, key)),
    async update(ctx, key, change, options) {
      const inner = async ({ object, key: { cluster } }: Item): Promise<KubeObject> => {
        const { managedFields } = object.metadata
        const scale = withOwners(scaleOf(object, paths), managedFieldsOfScale(managedFields, replicas))
        const next = await change(itemOf(scale, cluster))
        const owners = managedFieldsOfScaled(managedFields, next.metadata.managedFields, replicas, apiVersion)
        return withOwners(withoutOwners(scaled(object, next, paths)), owners)
      }
      return shown(await storage.update(ctx, key, inner, options))
    },
  }
}
