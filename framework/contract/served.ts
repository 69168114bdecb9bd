import { type About, methodNotSupported, notFound, notServed } from '../meta/errors.ts'
import type { Verb } from '../request/requestinfo.ts'
import type { ApiResource } from './apis.ts'
import type { ObjectSchema } from './schema.ts'
import type { ResourceStorage } from './storage.ts'

/** What one request addresses: a resource or one of its subresources, with the same members for both. */
export interface Served {
  readonly resource: ApiResource
  /** '' for the resource itself. */
  readonly subresource: string
  /** Of the objects that are sent and received; differs from the resource's for `scale` and `token`. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly verbs: readonly Verb[]
  readonly storage: ResourceStorage
  readonly schema: ObjectSchema
}

const itself = new WeakMap<ApiResource, Served>()

/** Finds what is addressed; throws 404 for a subresource that there is not. */
export function servedBy(resource: ApiResource, subresource: string, name: string): Served {
  const known = subresource === '' ? itself.get(resource) : undefined
  if (known !== undefined) return known
  const served = findServed(resource, subresource, name)
  if (subresource === '') itself.set(resource, served)
  return served
}

function findServed(resource: ApiResource, subresource: string, name: string): Served {
  const { group, version, names, verbs, storage, schema } = resource
  const own = { resource, group, version, kind: names.kind, verbs, storage, schema, subresource }
  if (subresource === '') return own
  const found = resource.subresources.find(each => each.name === subresource)
  if (found === undefined)
    throw resource.custom ? notFound({ group, resource: names.plural, name }) : notServed()
  return {
    ...own,
    group: found.group ?? group,
    version: found.version ?? version,
    kind: found.kind,
    verbs: found.verbs,
    storage: found.storage,
    schema: found.schema,
  }
}

/** What errors about the resource say. */
export const aboutOf = ({ resource }: Served, name = ''): About => ({
  group: resource.group,
  resource: resource.names.plural,
  name,
})

/** Throws 405 for a verb that is not served. */
export function requireVerb(served: Served, verb: Verb): void {
  if (!served.verbs.includes(verb)) throw methodNotSupported(aboutOf(served), verb)
}
