import type { ClusterName } from '../../framework/meta/object.ts'
import type { ParsedKey } from '../cache/codec.ts'
import { builtinSegment, customSegment } from '../cache/segments.ts'

// The keys of kcp's etcd without their prefix (kcp `pkg/etcd/keys.go`):
// `<group>/<resource>/[<segment>/]<logical cluster>/[<namespace>/]<name>`. Built-in kinds have no segment.

const core = 'core'
/** The identity of an export: a SHA-256. */
const identity = /^[0-9a-f]{64}$/

/** What a key of kcp names; undefined for keys that are not of objects of the logical cluster. */
export function parseKcpKey(text: string, cluster: ClusterName): ParsedKey | undefined {
  const [group, resource, ...rest] = text.split('/')
  const isBuiltin = rest[0] === cluster
  const [segment = '', home, ...place] = isBuiltin ? [builtinSegment, ...rest] : rest
  if (!group || !resource || home !== cluster || place.includes('')) return undefined
  if (!isBuiltin && segment !== customSegment && !identity.test(segment)) return undefined
  const [namespace = '', name] = place.length === 1 ? ['', ...place] : place
  if (name === undefined || place.length > 2) return undefined
  return {
    resource: { group: group === core ? '' : group, resource, segment },
    key: { cluster, namespace, name },
  }
}

/** The key of kcp for an object. */
export function kcpKeyOf({ resource: { group, resource, segment }, key }: ParsedKey): string {
  const segments = segment === builtinSegment ? [] : [segment]
  const namespaces = key.namespace === '' ? [] : [key.namespace]
  return [group === '' ? core : group, resource, ...segments, key.cluster, ...namespaces, key.name].join('/')
}
