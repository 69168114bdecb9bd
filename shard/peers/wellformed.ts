import type { ResourceRef } from '../../framework/contract/backend.ts'
import { type Item, itemOf } from '../../framework/contract/item.ts'
import { isObject } from '../../framework/json/values.ts'
import { StatusError } from '../../framework/meta/errors.ts'
import { pathSegmentNameErrors } from '../../framework/meta/names.ts'
import { groupResource, type KubeObject, type ObjectKey } from '../../framework/meta/object.ts'
import { isClusterName } from '../../framework/request/path.ts'
import { compileCached } from '../../openapi/compile.ts'
import type { KindDefinition } from '../../openapi/definitions/definition.ts'
import { kcpKinds } from '../../openapi/definitions/kcp/index.ts'
import { builtinKinds } from '../../openapi/definitions/kubernetes/index.ts'

const nameOf = ({ group, names }: KindDefinition): string => groupResource(group, names.plural)

const kinds = new Map([...builtinKinds, ...kcpKinds].map(kind => [nameOf(kind), kind]))

/** The types of errors after which code that reads an object by its Go types would fail. */
const unreadable: ReadonlySet<string> = new Set(['FieldValueTypeInvalid', 'FieldValueRequired'])

const known = new WeakMap<Item, Item | false>()

/**
 * An object that another shard sent, without nulls, as clients in Go read it; undefined if it has no valid name, or lacks a required
 * field or has one of the wrong type; an absent spec is empty. Rules of the schema were checked by the other shard, which may be of another version.
 */
export function wellFormed(resource: ResourceRef, item: Item): Item | undefined {
  const found = known.get(item) ?? read(resource, item)
  known.set(item, found)
  return found || undefined
}

/** Its parts are parts of a key of the store. */
const isPlace = ({ cluster, namespace, name }: ObjectKey): boolean =>
  isClusterName(cluster) && namespace === '' && name !== '' && pathSegmentNameErrors(name, false).length === 0

function read({ group, version, resource }: ResourceRef, item: Item): Item | false {
  const kind = kinds.get(groupResource(group, resource))
  const schema = kind?.versions.find(({ name }) => name === version)?.schema
  try {
    if (!isPlace(item.key)) return false
    if (schema === undefined || !isObject(item.object)) return false
    const { decode, validate } = compileCached(schema)
    const { object } = decode(item.object, { stored: true })
    const errors = validate({ spec: {}, ...object } as KubeObject, undefined, {
      mayRepeat: true,
      withoutRules: true,
    })
    return errors.some(({ type }) => unreadable.has(type)) ? false : itemOf(object, item.key.cluster)
  } catch (error) {
    if (error instanceof StatusError || error instanceof SyntaxError || error instanceof TypeError)
      return false
    throw error
  }
}
