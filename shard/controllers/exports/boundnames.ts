import type { ResourceNames } from '../../../framework/contract/apis.ts'
import type { Informers } from '../../../framework/contract/informer.ts'
import type { ClusterName } from '../../../framework/meta/object.ts'
import type { APIBinding } from '../../../kcp/apis.ts'
import { resources } from '../../../kcp/resources.ts'
import { definitionOf } from '../../../openapi/resource.ts'

/** The names that bindings have taken in a group of a logical cluster: definitions cannot have them, too. */
export function boundNames(
  informers: Informers,
): (cluster: ClusterName, group: string) => readonly ResourceNames[] {
  const bindings = informers.for(resources.apiBindings)
  const bySchemaUid = informers.for(resources.apiResourceSchemas).index(({ meta }) => [meta.uid])
  return (cluster, group) =>
    bindings
      .list(cluster)
      .flatMap(({ object }) => (object as APIBinding).status?.boundResources ?? [])
      .filter(bound => bound.group === group)
      .flatMap(({ schema }) => bySchemaUid(schema.UID).map(({ object }) => definitionOf(object).names))
}
