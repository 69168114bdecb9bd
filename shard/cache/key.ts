import type { ObjectKey } from '../../framework/meta/object.ts'

/** What is stored together: one resource, in any version. `group` is '' for core. */
export interface StoredResource {
  readonly group: string
  readonly resource: string
  /** The identity hash of a bound resource, `customresources`, or `-` for built-in kinds. */
  readonly segment: string
}

/** All keys of objects begin with this. */
export const registryPrefix = '/registry/'

/** `/registry/<cluster>/<group or core>/<resource>/<segment>/<namespace>/<name>`. */
export const storageKey = ({ group, resource, segment }: StoredResource, key: ObjectKey): string =>
  `${registryPrefix}${key.cluster}/${group === '' ? 'core' : group}/${resource}/${segment}/${key.namespace}/${key.name}`

export interface ParsedKey {
  readonly resource: StoredResource
  readonly key: ObjectKey
}

/** The way back; undefined for keys that are not objects'. */
export function parseStorageKey(stored: string): ParsedKey | undefined {
  if (!stored.startsWith(registryPrefix)) return undefined
  const parts = stored.slice(registryPrefix.length).split('/')
  const [cluster, group, resource, segment, namespace, name] = parts
  if (parts.length !== 6 || !cluster || !group || !resource || !segment || namespace === undefined || !name)
    return undefined
  return {
    resource: { group: group === 'core' ? '' : group, resource, segment },
    key: { cluster, namespace, name },
  }
}
