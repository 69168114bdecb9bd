import type { MergeSchema } from './mergeschema.ts'
import type { KubeObject, Metadata } from './object.ts'

/** The type of a field of metadata, as Go prints it. */
export type MetaType =
  | 'string'
  | 'bool'
  | 'int64'
  | 'v1.Time'
  | 'v1.FieldsV1'
  | 'map[string]string'
  | '[]string'
  | '[]v1.OwnerReference'
  | '[]v1.ManagedFieldsEntry'

/** One field of `ObjectMeta`, `OwnerReference` or `ManagedFieldsEntry`. */
export interface MetaField {
  readonly type: MetaType
  /** The field number in protobuf. */
  readonly number: number
  /** For OpenAPI documents. */
  readonly description: string
  /** A pointer in Go: protobuf distinguishes zero from absent. */
  readonly isPointer?: true
  /** Never omitted by Go: the empty string when it is not set. */
  readonly isRequired?: true
  /** How patches and server-side apply merge the list; the items of a `map` are identified by `mergeKey`. */
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly mergeKey?: string
  /** Server-side apply does not track it: `stripMeta` of `apimachinery/pkg/util/managedfields`. */
  readonly isUntracked?: true
  /** `rest.WipeObjectMetaSystemFields` clears the field in new objects; updates keep the stored value. */
  readonly isCleared?: true
  /** Decoders accept any value and drop it. */
  readonly isDropped?: true
}

/** A struct of `metav1` that is part of metadata. */
export interface MetaStruct {
  readonly description: string
  readonly fields: Readonly<Record<string, MetaField>>
  /** Patches replace it as a whole. */
  readonly isAtomic?: true
}

type Options = Omit<MetaField, 'type' | 'number' | 'description'>

const field = (number: number, type: MetaType, description: string, options: Options = {}): MetaField => ({
  type,
  number,
  description,
  ...options,
})

const untracked = { isUntracked: true } as const
const cleared = { isCleared: true } as const
const pointer = { isPointer: true } as const
const required = { isRequired: true } as const

/** The fields of `metav1.ObjectMeta`: `apimachinery/pkg/apis/meta/v1/types.go` and `generated.proto`. */
const objectMeta = {
  name: field(1, 'string', 'Name of the object, unique in its resource and namespace.', untracked),
  generateName: field(2, 'string', 'Prefix of a unique name that the server generates if name is not set.'),
  namespace: field(3, 'string', 'Namespace of the object; empty for cluster-scoped objects.', untracked),
  selfLink: field(4, 'string', 'Deprecated: not set by the server.', {
    ...untracked,
    ...cleared,
    isDropped: true,
  }),
  uid: field(5, 'string', 'Unique ID of the object. Set by the server.', { ...untracked, ...cleared }),
  resourceVersion: field(6, 'string', 'Opaque version of the object, changed by each write.', {
    ...untracked,
  }),
  generation: field(7, 'int64', 'Generation of the desired state. Set by the server.', {
    ...untracked,
  }),
  creationTimestamp: field(8, 'v1.Time', 'Time when the object was created. Set by the server.', {
    ...untracked,
    ...cleared,
  }),
  deletionTimestamp: field(9, 'v1.Time', 'Time when deletion was requested. Set by the server.', {
    ...pointer,
    ...cleared,
  }),
  deletionGracePeriodSeconds: field(
    10,
    'int64',
    'Seconds the object has to terminate gracefully. Set by the server with deletionTimestamp.',
    { ...pointer, ...cleared },
  ),
  labels: field(11, 'map[string]string', 'Keys and values that selectors match.'),
  annotations: field(12, 'map[string]string', 'Keys and values that tools set; selectors do not match them.'),
  ownerReferences: field(
    13,
    '[]v1.OwnerReference',
    'Objects that this object depends on: it is deleted when all of them are deleted.',
    { listType: 'map', mergeKey: 'uid' },
  ),
  finalizers: field(
    14,
    '[]string',
    'Finalizers: the object is removed from the registry when the list is empty.',
    {
      listType: 'set',
    },
  ),
  managedFields: field(17, '[]v1.ManagedFieldsEntry', 'Fields that each field manager has set.', {
    ...untracked,
    listType: 'atomic',
  }),
} as const satisfies Readonly<Record<keyof Metadata | 'selfLink', MetaField>>

const ownerReference = {
  kind: field(1, 'string', 'Kind of the owner.', required),
  name: field(3, 'string', 'Name of the owner.', required),
  uid: field(4, 'string', 'UID of the owner.', required),
  apiVersion: field(5, 'string', 'API version of the owner.', required),
  controller: field(6, 'bool', 'True if the owner is the managing controller.', pointer),
  blockOwnerDeletion: field(
    7,
    'bool',
    'True if foreground deletion of the owner waits until this object is deleted.',
    pointer,
  ),
} as const

const managedFieldsEntry = {
  manager: field(1, 'string', 'Name of the field manager.'),
  operation: field(2, 'string', 'Apply or Update.'),
  apiVersion: field(3, 'string', 'API version of the fields.'),
  time: field(4, 'v1.Time', 'Time when the fields were last set.', pointer),
  fieldsType: field(6, 'string', 'Format of the fields: FieldsV1.'),
  fieldsV1: field(7, 'v1.FieldsV1', 'The fields, in the format FieldsV1.', pointer),
  subresource: field(8, 'string', 'Subresource that was written; empty for the object itself.'),
} as const

/** `ObjectMeta` and the structs in it, by their names in Go. */
export const metaStructs = {
  ObjectMeta: { description: 'Metadata of a persisted object.', fields: objectMeta },
  OwnerReference: { description: 'An owner of the object.', fields: ownerReference, isAtomic: true },
  ManagedFieldsEntry: {
    description: 'Fields that one field manager has set with one operation.',
    fields: managedFieldsEntry,
  },
} as const satisfies Readonly<Record<string, MetaStruct>>

export type MetaStructName = keyof typeof metaStructs

/** The name of a field of `ObjectMeta`. */
export type ObjectMetaField = keyof typeof objectMeta

const fieldsWhere = (is: (field: MetaField) => boolean): readonly ObjectMetaField[] =>
  (Object.keys(objectMeta) as ObjectMetaField[]).filter(name => is(objectMeta[name]))

/** What `rest.WipeObjectMetaSystemFields` clears in new objects, before admission. */
const clearedFields = fieldsWhere(({ isCleared }) => isCleared === true)

/** A new object without the fields that only the server sets (`rest.WipeObjectMetaSystemFields`; rules.md 3.1). */
export function withoutSystemFields(object: KubeObject): KubeObject {
  const { metadata } = object
  if (!clearedFields.some(name => name in metadata)) return object
  const isCleared: ReadonlySet<string> = new Set(clearedFields)
  const kept = Object.entries(metadata).filter(([name]) => !isCleared.has(name))
  return { ...object, metadata: Object.fromEntries(kept) }
}

/** Fields that server-side apply does not track. */
export const untrackedFields = fieldsWhere(({ isUntracked }) => isUntracked === true)

/** The struct in a list of them, such as `OwnerReference` for `[]v1.OwnerReference`; undefined for other types. */
export function itemStruct(type: MetaType): MetaStructName | undefined {
  const name = type.replace(/^\[\]v1\./, '')
  return name !== type && Object.hasOwn(metaStructs, name) ? (name as MetaStructName) : undefined
}

const text: MergeSchema = { type: 'string' }

function typeSchema(type: MetaType): MergeSchema {
  const item = itemStruct(type)
  if (item !== undefined) return { type: 'array', items: structSchema(metaStructs[item]) }
  switch (type) {
    case 'bool':
      return { type: 'boolean' }
    case 'int64':
      return { type: 'integer' }
    case 'v1.Time':
      return { type: 'string', format: 'date-time' }
    case 'v1.FieldsV1':
      return { type: 'object' }
    case 'map[string]string':
      return { type: 'object', additionalProperties: text }
    case '[]string':
      return { type: 'array', items: text }
    default:
      return text
  }
}

/** How patches and server-side apply merge a list: the `x-kubernetes-*` keys of its schema. */
export function mergeKeys({ listType, mergeKey }: MetaField) {
  return {
    ...(listType && { 'x-kubernetes-list-type': listType }),
    ...(mergeKey && { 'x-kubernetes-list-map-keys': [mergeKey] }),
    ...(listType && listType !== 'atomic' && { 'x-kubernetes-patch-strategy': 'merge' }),
    ...(mergeKey && { 'x-kubernetes-patch-merge-key': mergeKey }),
  }
}

function structSchema({ fields, isAtomic }: MetaStruct): MergeSchema {
  const properties = Object.entries(fields).map(([name, each]): [string, MergeSchema] => [
    name,
    { ...typeSchema(each.type), ...(each.isRequired && { default: '' }), ...mergeKeys(each) },
  ])
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(isAtomic && { 'x-kubernetes-map-type': 'atomic' }),
  }
}

/** `metav1.ObjectMeta` as patches and server-side apply see it. */
export const objectMetaSchema = structSchema(metaStructs.ObjectMeta)

type RawSchema = Readonly<Record<string, unknown>>

const whole = new WeakMap<RawSchema, MergeSchema>()

/** The published schema of a kind, with apiVersion, kind and metadata. Cached by schema. */
export function wholeSchema(openapi: RawSchema): MergeSchema {
  const known = whole.get(openapi)
  if (known !== undefined) return known
  const schema = openapi as MergeSchema
  const own = { ...schema.properties, apiVersion: text, kind: text, metadata: objectMetaSchema }
  const made = { ...schema, properties: own }
  whole.set(openapi, made)
  return made
}
