import type { ApiResource, ApiSet } from '../contract/apis.ts'
import type { Decision } from '../contract/authorizer.ts'
import type { Item, ItemEvent } from '../contract/item.ts'
import type { Deletion, ItemBatch, ListMeta } from '../contract/storage.ts'
import { isObject } from '../lens/privatecopy.ts'
import type { KubeObject } from '../meta/object.ts'
import type { Params } from '../request/path.ts'
import type { UserInfo } from '../request/user.ts'

// Checks of the results of members of a view.

export const isText = (value: unknown): value is string => typeof value === 'string'
export const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText)

export const isNothing = (value: unknown): value is undefined => value === undefined

const effects: readonly unknown[] = ['allow', 'deny', 'no opinion']

export const isDecision = (value: unknown): value is Decision =>
  isObject(value) && effects.includes(value.effect) && isText(value.reason)

export const isUser = (value: unknown): value is UserInfo =>
  isObject(value) && isText(value.name) && value.name !== '' && isTextList(value.groups)

export const isApis = (value: unknown): value is ApiSet | undefined =>
  value === undefined ||
  (isObject(value) && Array.isArray(value.resources) && typeof value.find === 'function')

export const isItem = (value: unknown): value is Item =>
  isObject(value) && isObject(value.key) && isText(value.key.name) && 'meta' in value && 'bytes' in value

export const isItems = (value: unknown): value is readonly Item[] =>
  Array.isArray(value) && value.every(isItem)

/** Batches of the framework are not checked. */
export const isBatch = (value: unknown): value is ItemBatch =>
  Array.isArray(value) ? value.every(isItem) : isObject(value) && Symbol.iterator in value && 'bytes' in value

export const isEvents = (value: unknown): value is readonly ItemEvent[] =>
  Array.isArray(value) && value.every(isEvent)

const types: readonly unknown[] = ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']
const isEvent = (value: unknown): value is ItemEvent =>
  isObject(value) && types.includes(value.type) && isItem(value.item)

export const isListMeta = (value: unknown): value is ListMeta =>
  isObject(value) && isText(value.resourceVersion)

export const isDeletion = (value: unknown): value is Deletion =>
  isObject(value) && isItem(value.item) && typeof value.removed === 'boolean'

export const isStream = (value: unknown): value is AsyncGenerator =>
  isObject(value) && typeof value.next === 'function' && Symbol.asyncIterator in value

export const isKubeObject = (value: unknown): value is KubeObject =>
  isObject(value) && isText(value.apiVersion) && isText(value.kind) && isObject(value.metadata)

export const isParamsList = (value: unknown): value is readonly Params[] | undefined =>
  value === undefined || (Array.isArray(value) && value.every(isObject))

type Kind = (value: unknown) => boolean
const isFunction: Kind = value => typeof value === 'function'
const isBoolean: Kind = value => typeof value === 'boolean'
const isList =
  (of: Kind): Kind =>
  value =>
    Array.isArray(value) && value.every(of)
const has =
  (members: Readonly<Record<string, Kind>>): Kind =>
  value =>
    isObject(value) && Object.entries(members).every(([member, is]) => is(value[member]))

const isStorage = has(
  Object.fromEntries(
    ['get', 'list', 'watch', 'create', 'update', 'delete'].map(member => [member, isFunction]),
  ),
)
const isSchema = has({ decode: isFunction, validate: isFunction })

const resourceKinds: Readonly<Partial<Record<keyof ApiResource, readonly [is: Kind, wanted: string]>>> = {
  group: [isText, 'a string ("" for the core group)'],
  version: [isText, 'a string, such as "v1"'],
  names: [
    has({ plural: isText, singular: isText, kind: isText, listKind: isText }),
    'an object with the strings plural, singular, kind and listKind',
  ],
  namespaced: [isBoolean, 'a boolean'],
  verbs: [isTextList, 'a list of verbs'],
  storage: [isStorage, 'a storage with the functions get, list, watch, create, update and delete'],
  schema: [isSchema, 'a schema with the functions decode and validate'],
  columns: [isList(has({ name: isText, cell: isFunction })), 'a list of columns with name and cell'],
  subresources: [
    isList(has({ name: isText, kind: isText, verbs: isTextList, storage: isStorage, schema: isSchema })),
    'a list of subresources with name, kind, verbs, storage and schema',
  ],
  custom: [isBoolean, 'a boolean'],
  unconditionalUpdate: [isBoolean, 'a boolean'],
  createOnUpdate: [isBoolean, 'a boolean'],
  openapi: [isObject, 'a schema, such as { type: "object" }'],
}

/** The error of a resource of a view: `resources[0].verbs must be a list of verbs`; undefined: none. */
export function problemOfResource(resource: unknown, i: number): string | undefined {
  if (!isObject(resource)) return `resources[${i}] must be a resource`
  for (const [member, kind] of Object.entries(resourceKinds))
    if (!kind[0](resource[member])) return `resources[${i}].${member} must be ${kind[1]}`
  return undefined
}
