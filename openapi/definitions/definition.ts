import type { ResourceNames } from '../../framework/contract/apis.ts'
import type { TableColumn } from '../../framework/contract/schema.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { groupResource, type KubeObject } from '../../framework/meta/object.ts'

/** A printer column of a CRD (rules.md 7.6). */
export interface PrinterColumn {
  readonly name: string
  readonly type: 'boolean' | 'date' | 'integer' | 'number' | 'string'
  readonly jsonPath: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
}

/** `spec.versions[].subresources.scale` of a CRD. */
export interface ScalePaths {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}

/** One version of a kind. `schema` describes the whole object: apiVersion, kind, metadata, then its own fields. */
export interface KindVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly schema: JSONSchemaProps
  /** Columns after `Name`: with a JSONPath, or with a function for computed cells, such as counts. */
  readonly columns: readonly (PrinterColumn | TableColumn)[]
  readonly status: boolean
  readonly scale?: ScalePaths
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
  /** The warning header of requests to a deprecated version. */
  readonly deprecationWarning?: string
}

/** A conversion webhook (rules.md 7.42). */
export interface ConversionWebhook {
  readonly url: string
  /** PEM, base64. */
  readonly caBundle?: string
  readonly reviewVersions: readonly string[]
}

/** The definition of a kind: built-in, of kcp, or from a CRD or APIResourceSchema. */
export interface KindDefinition {
  readonly group: string
  readonly names: ResourceNames
  readonly namespaced: boolean
  readonly versions: readonly KindVersion[]
  /** If absent, conversion changes apiVersion and prunes unknown fields. */
  readonly conversion?: ConversionWebhook
}

/** The schema of one version of a kind. Throws a `TypeError` if there is no such version. */
export function schemaFor(kind: KindDefinition, version: string): JSONSchemaProps {
  const found = kind.versions.find(v => v.name === version)
  if (found === undefined) throw new TypeError(`${kind.names.kind} has no version ${version}`)
  return found.schema
}

/** The name of a resource in APIResourceSchema names: `widgets.example.com`, or `configmaps.core` for the core group. */
export const resourceName = ({ group, names }: KindDefinition): string =>
  `${names.plural}.${group === '' ? 'core' : group}`

/**
 * The APIResourceSchema of a kind, named `<prefix>.<plural>.<group>`. Computed columns are left out, since they have no
 * JSONPath.
 */
export const apiResourceSchemaOf = (kind: KindDefinition, prefix: string): KubeObject => ({
  apiVersion: 'apis.kcp.io/v1alpha1',
  kind: 'APIResourceSchema',
  metadata: { name: `${prefix}.${resourceName(kind)}` },
  spec: {
    group: kind.group,
    names: kind.names,
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    versions: kind.versions.map(versionSpec),
    ...(kind.versions.length > 1 ? { conversion: { strategy: 'None' } } : {}),
  },
})

function versionSpec(version: KindVersion): Readonly<Record<string, unknown>> {
  const { name, served, storage, schema, status, scale, selectableFields, deprecationWarning } = version
  const columns = version.columns.filter(isDeclared)
  const subresources = { ...(status ? { status: {} } : {}), ...(scale === undefined ? {} : { scale }) }
  return {
    name,
    served,
    storage,
    ...(deprecationWarning === undefined ? {} : { deprecated: true, deprecationWarning }),
    schema,
    ...(Object.keys(subresources).length === 0 ? {} : { subresources }),
    ...(columns.length === 0 ? {} : { additionalPrinterColumns: columns }),
    ...(selectableFields === undefined ? {} : { selectableFields }),
  }
}

const isDeclared = (column: PrinterColumn | TableColumn): column is PrinterColumn => 'jsonPath' in column

/** `<plural>.<group>` */
export const nameOfKind = ({ group, names }: KindDefinition): string => groupResource(group, names.plural)

/** The kinds by `nameOfKind`. */
export const kindsByName = (kinds: readonly KindDefinition[]): ReadonlyMap<string, KindDefinition> =>
  new Map(kinds.map(kind => [nameOfKind(kind), kind]))
