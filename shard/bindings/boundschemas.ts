import type { Informers } from '../../framework/contract/informer.ts'
import type { Item } from '../../framework/contract/item.ts'
import { type KubeObject, timestamp } from '../../framework/meta/object.ts'
import type { APIResourceSchema } from '../../kcp/apis.ts'
import { boundCRDsCluster } from '../../kcp/logicalclusters.ts'
import { resources } from '../../kcp/resources.ts'
import type { Manifest } from '../manifests/manifest.ts'

/** The schema of a bound resource, or its copy: both have a group and names. */
export type BoundSchema = KubeObject & { readonly spec: Pick<APIResourceSchema['spec'], 'group' | 'names'> }

/** Finds the schema of a bound resource by its uid; its copy where the schema was deleted. */
export function boundSchemas(informers: Informers): (uid: string) => BoundSchema | undefined {
  const schemas = informers.for(resources.apiResourceSchemas).index(uidOf)
  const copies = informers.for(resources.crds)
  return uid => (copies.get(boundCRDsCluster, '', uid) ?? schemas(uid)[0])?.object as BoundSchema | undefined
}

const uidOf = ({ meta }: Item): readonly string[] => [meta.uid]

/** The logical cluster of the schema, in the copy of a bound one. */
export const schemaClusterAnnotation = 'apis.kcp.io/schema-cluster'

const apiApproved = 'api-approved.kubernetes.io'

/**
 * The copy of a bound APIResourceSchema: a CustomResourceDefinition named by its uid (kcp
 * `apibinding_reconcile.go`, `generateCRD`). The resource is served while it is bound, also when the schema is
 * deleted.
 */
export function boundCopyOf({ key, object }: Item): Manifest {
  const schema = object as APIResourceSchema
  const { nameValidation, ...spec } = schema.spec
  const approved = schema.metadata.annotations?.[apiApproved]
  const copy: KubeObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: schema.metadata.uid ?? '',
      annotations: {
        'apis.kcp.io/bound-crd': '',
        [schemaClusterAnnotation]: key.cluster,
        'apis.kcp.io/schema-name': key.name,
        ...(approved === undefined ? {} : { [apiApproved]: approved }),
        ...(nameValidation === 'PathSegmentName' ? { 'internal.kcp.io/validate-name': 'path-segment' } : {}),
      },
    },
    spec: {
      ...spec,
      conversion: spec.conversion ?? { strategy: 'None' },
      versions: spec.versions.map(version => ({ ...version, schema: { openAPIV3Schema: version.schema } })),
    },
    status: statusOf(schema),
  }
  return { cluster: boundCRDsCluster, resource: resources.crds, object: copy }
}

/** Names are always accepted: conflicts are checked in the logical cluster of the binding. */
function statusOf({ spec }: APIResourceSchema): object {
  const established = (type: string, reason: string, message: string): object => ({
    type,
    status: 'True',
    reason,
    message,
    lastTransitionTime: timestamp(),
  })
  return {
    acceptedNames: spec.names,
    storedVersions: spec.versions.filter(version => version.storage).map(version => version.name),
    conditions: [
      established('NamesAccepted', 'NoConflicts', 'no conflicts found'),
      established('Established', 'InitialNamesAccepted', 'the initial names have been accepted'),
    ],
  }
}
