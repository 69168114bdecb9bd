import type { ResourceRef } from '../../framework/contract/backend.ts'
import { type Item, itemOf } from '../../framework/contract/item.ts'
import { isObject } from '../../framework/json/values.ts'
import { fieldErrorText, StatusError } from '../../framework/meta/errors.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { pathSegmentErrors } from '../../framework/meta/names.ts'
import { groupResource, type KubeObject, type ObjectKey } from '../../framework/meta/object.ts'
import { isClusterName } from '../../framework/request/path.ts'
import { compileCached } from '../../openapi/compile.ts'
import { kindsByName } from '../../openapi/definitions/definition.ts'
import { kcpKinds } from '../../openapi/definitions/kcp/index.ts'
import { builtinKinds } from '../../openapi/definitions/kubernetes/index.ts'

const kinds = kindsByName([...builtinKinds, ...kcpKinds])

/** The types of errors after which code that reads an object by its Go types would fail. */
const unreadable: ReadonlySet<string> = new Set(['FieldValueTypeInvalid', 'FieldValueRequired'])

/** What was read; a text: why nothing was. */
const known = new WeakMap<Item, Item | string>()

/**
 * An object that another shard sent, without nulls, as clients in Go read it; undefined if it has no valid name, or lacks a required
 * field or has one of the wrong type; an absent spec is empty. Rules of the schema were checked by the other shard, which may be of another version.
 */
export function wellFormed(resource: ResourceRef, item: Item): Item | undefined {
  const found = knownOf(resource, item)
  return typeof found === 'string' ? undefined : found
}

/** Why an object that another shard sent is not well-formed; undefined if it is. */
export function malformedBy(resource: ResourceRef, item: Item): string | undefined {
  const found = knownOf(resource, item)
  return typeof found === 'string' ? found : undefined
}

function knownOf(resource: ResourceRef, item: Item): Item | string {
  const found = known.get(item) ?? read(resource, item)
  known.set(item, found)
  return found
}

/** Its parts are parts of a key of the store. */
const isPlace = ({ cluster, namespace, name }: ObjectKey): boolean =>
  isClusterName(cluster) && namespace === '' && name !== '' && pathSegmentErrors(name).length === 0

function read(resource: ResourceRef, item: Item): Item | string {
  if (!isPlace(item.key)) return 'its name or its logical cluster is invalid'
  const object = readAs(resource, item.object)
  return typeof object === 'string' ? object : itemOf(object, item.key.cluster)
}

const orUndefined = (found: KubeObject | string): KubeObject | undefined =>
  typeof found === 'string' ? undefined : found

/** The object of a kind of this program as `wellFormed` reads it, with any name; undefined likewise, and for other kinds. */
export const readable = (resource: ResourceRef, object: unknown): KubeObject | undefined =>
  orUndefined(readAs(resource, object))

function readAs({ group, version, resource }: ResourceRef, object: unknown): KubeObject | string {
  const kind = kinds.get(groupResource(group, resource))
  const schema = kind?.versions.find(({ name }) => name === version)?.schema
  return schema === undefined ? 'its kind is unknown' : readBy(schema, object)
}

const anything: JSONSchemaProps = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/** An object of any kind; undefined if its metadata has a field of the wrong type. */
export const withReadableMetadata = (object: unknown): KubeObject | undefined =>
  orUndefined(readBy(anything, object))

/** The object; a text: why it cannot be read. */
function readBy(schema: JSONSchemaProps, object: unknown): KubeObject | string {
  if (!isObject(object)) return 'it is not an object'
  try {
    const { decode, validate } = compileCached(schema)
    const { object: decoded } = decode(object as KubeObject, { stored: true })
    const errors = validate({ spec: {}, ...decoded } as KubeObject, undefined, {
      mayRepeat: true,
      withoutRules: true,
    })
    const error = errors.find(({ type }) => unreadable.has(type))
    return error === undefined ? decoded : fieldErrorText(error)
  } catch (error) {
    if (error instanceof StatusError || error instanceof SyntaxError || error instanceof TypeError)
      return error.message
    throw error
  }
}
