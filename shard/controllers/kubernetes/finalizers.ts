import { type ApiSet, resourceOfRef } from '../../../framework/contract/apis.ts'
import type { ResourceRef } from '../../../framework/contract/backend.ts'
import type { ClusterName } from '../../../framework/meta/object.ts'
import { bindingFinalizer, workspaceFinalizer } from '../../../kcp/annotations.ts'
import type { Stored } from '../../bindings/content.ts'
import type { CachedItem } from '../../cache/item.ts'
import { isIdentity } from '../../cache/segments.ts'
import { cleanupFinalizer } from '../../registry/crd.ts'
import { foregroundFinalizer, orphanFinalizer } from '../../registry/strategy.ts'

/**
 * Finalizers of the server's own controllers, which have nothing to do for an object that is deleted with its
 * logical cluster.
 */
const serverFinalizers: ReadonlySet<string> = new Set([
  bindingFinalizer,
  workspaceFinalizer,
  cleanupFinalizer,
  foregroundFinalizer,
  orphanFinalizer,
  'kubernetes',
])

const mark = Buffer.from('"finalizers":')

interface Finalized {
  readonly finalizers?: readonly string[]
}

/** The finalizers of other controllers. */
export function foreignFinalizers({ resource, item }: Stored): readonly string[] {
  const isNamespace = resource.group === '' && resource.resource === 'namespaces'
  const more = isNamespace ? ((item.object.spec as Finalized | undefined)?.finalizers ?? []) : []
  return [...finalizersOf(item), ...more].filter(finalizer => !serverFinalizers.has(finalizer))
}

/** Reads the bytes of the metadata: the deletion of a logical cluster decodes none of its objects. */
function finalizersOf(item: CachedItem): readonly string[] {
  const { rest, end } = item.offsets
  const metadata = item.bytes.subarray(rest, end)
  const at = metadata.indexOf(mark)
  if (at < 0) return []
  return JSON.parse(metadata.toString('utf8', at + mark.length, metadata.indexOf(']', at) + 1))
}

/**
 * The ref of a stored object; undefined when the resource is not served: then no other controller can wait for it.
 */
export function refOf(
  apis: (cluster: ClusterName) => ApiSet | undefined,
  { resource: { group, resource, segment }, item }: Stored,
): ResourceRef | undefined {
  const set = apis(item.cluster)
  const served = set?.resources.find(r => r.group === group && r.names.plural === resource)
  if (served === undefined) return undefined
  const ref = { group, version: served.version, resource }
  if (!isIdentity(segment)) return ref
  const boundRef = { ...ref, identity: segment }
  return resourceOfRef(set, boundRef) && boundRef
}

/**
 * Objects that other controllers may need until they have removed their finalizers: namespaces, definitions and RBAC
 * objects.
 */
const needed: ReadonlySet<string> = new Set([
  'namespaces',
  'apibindings',
  'customresourcedefinitions',
  'clusterroles',
  'clusterrolebindings',
])

export const isNeeded = ({ resource: { resource } }: Stored): boolean => needed.has(resource)
