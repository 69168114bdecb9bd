import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { groupResource } from '../../framework/meta/object.ts'
import type { KindDefinition } from '../../openapi/definitions/definition.ts'
import { kcpKinds } from '../../openapi/definitions/kcp/index.ts'
import { builtinKinds } from '../../openapi/definitions/kubernetes/index.ts'

/** Objects of any content: the shard of an object has validated it. */
const anyContent: JSONSchemaProps = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

const withoutSchema = (kind: KindDefinition): KindDefinition => ({
  group: kind.group,
  names: kind.names,
  namespaced: kind.namespaced,
  versions: kind.versions.map(({ name, served, storage }) => copiedVersion({ name, served, storage })),
})

/** A version without schema, subresources and columns. */
export const copiedVersion = (
  version: Pick<KindDefinition['versions'][number], 'name' | 'served' | 'storage'>,
): KindDefinition['versions'][number] => ({ ...version, schema: anyContent, columns: [], status: false })

/** Kinds that shards of kcp copy and Oriel does not have. */
const ofKcpOnly: readonly (readonly [group: string, plural: string, kind: string])[] = [
  ['cache.kcp.io', 'cachedobjects', 'CachedObject'],
]

const kindOfKcp = ([group, plural, kind]: (typeof ofKcpOnly)[number]): KindDefinition => ({
  group,
  names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
  namespaced: false,
  versions: [copiedVersion({ name: 'v1alpha1', served: true, storage: true })],
})

const policies = [
  ...['mutatingwebhookconfigurations', 'mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'],
  ...['validatingwebhookconfigurations', 'validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
]

const copied: ReadonlySet<string> = new Set([
  ...['apiresourceschemas', 'apiconversions', 'apiexports', 'apiexportendpointslices'].map(ofApis),
  ...['logicalclusters', 'shards'].map(name => groupResource('core.kcp.io', name)),
  ...['clustercachedresources', 'clustercachedresourceendpointslices'].map(name =>
    groupResource('cache.kcp.io', name),
  ),
  groupResource('migration.kcp.io', 'logicalclustermigrations'),
  groupResource('tenancy.kcp.io', 'workspacetypes'),
  groupResource('apiextensions.k8s.io', 'customresourcedefinitions'),
  ...['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'].map(name =>
    groupResource('rbac.authorization.k8s.io', name),
  ),
  ...policies.map(name => groupResource('admissionregistration.k8s.io', name)),
])

function ofApis(name: string): string {
  return groupResource('apis.kcp.io', name)
}

/** The kinds that every shard copies to a cache server (kcp `pkg/cache/server/bootstrap`). */
export const copiedKinds: readonly KindDefinition[] = [
  ...[...builtinKinds, ...kcpKinds]
    .filter(({ group, names }) => copied.has(groupResource(group, names.plural)))
    .map(withoutSchema),
  ...ofKcpOnly.map(kindOfKcp),
]
