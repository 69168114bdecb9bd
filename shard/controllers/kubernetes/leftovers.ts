import type { ClusterName } from '../../../framework/meta/object.ts'
import { systemGroups } from '../../../kcp/apigroups.ts'
import { resources } from '../../../kcp/resources.ts'
import { type ClusterContent, removeAll } from '../../bindings/content.ts'
import { storageKey } from '../../cache/codec.ts'
import { customSegment } from '../../cache/segments.ts'
import { storedResourceOf } from '../../manifests/apply.ts'
import type { CustomResourceDefinition } from '../../registry/crd.ts'
import { clusterScoped } from '../client.ts'

/**
 * Removes the custom resources that are older than their definition: a server of an earlier version admitted them before it knew that an
 * earlier definition of this name was deleted, and stored them afterwards. To be called before the definition is established.
 */
export async function removeLeftovers(
  content: ClusterContent,
  cluster: ClusterName,
  { metadata: { name = '' }, spec }: CustomResourceDefinition,
): Promise<void> {
  const resource = { group: spec.group, resource: spec.names.plural, segment: customSegment }
  // Those of a system group are not of the definition.
  if (systemGroups.includes(spec.group) || content.count(resource, cluster) === 0) return
  const key = storageKey(storedResourceOf(resources.crds), clusterScoped(cluster, name))
  const [definition] = await content.values(key, `${key}\0`, 1)
  if (definition === undefined) return
  const leftovers = [...content.of(cluster)].filter(
    ({ resource: { group, resource: plural, segment }, item }) =>
      group === resource.group &&
      plural === resource.resource &&
      segment === resource.segment &&
      item.modified < definition.created,
  )
  await removeAll(content, leftovers)
}
