import { createHash } from 'node:crypto'
import type { ApiResource } from '../../framework/contract/apis.ts'
import { canonicalJson } from '../../framework/json/json.ts'

const digest = (text: string): string => createHash('sha256').update(text).digest('base64')

const digests = new WeakMap<object, string>()

/** The hash of a value that never changes; read once per object. */
function digestOf(value: object): string {
  const known = digests.get(value)
  if (known !== undefined) return known
  const made = digest(canonicalJson(value))
  digests.set(value, made)
  return made
}

/** The hash of a schema. Copies of a schema have the same `properties`, which is nearly all of it. */
function schemaDigest({ properties, ...rest }: ApiResource['openapi']): string {
  const inner = typeof properties === 'object' && properties !== null ? digestOf(properties) : ''
  return digest(`${canonicalJson(rest)} ${inner}`)
}

/** Equal for resources of which documents say the same: everything that rendering reads, and nothing else. */
export const contentKey = (resources: readonly ApiResource[]): string =>
  digest(canonicalJson(resources.map(readParts)))

const readParts = (resource: ApiResource): object => {
  const { group, version, names, namespaced, verbs, custom, deleteReturnsObject } = resource
  return {
    group,
    version,
    names,
    namespaced,
    verbs,
    custom,
    deleteReturnsObject: deleteReturnsObject === true,
    fields: Object.keys(resource.selectableFields ?? {}),
    subresources: resource.subresources.map(sub => [sub.name, sub.group, sub.version, sub.kind, sub.verbs]),
    schema: schemaDigest(resource.openapi),
  }
}
