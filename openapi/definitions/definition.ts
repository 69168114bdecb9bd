import type { ResourceNames } from '../../framework/contract/apis.ts'
import type { TableColumn } from '../../framework/contract/schema.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import type { KubeObject } from '../../framework/meta/object.ts'

/** A printer column as a CRD declares it (chapter 40, rule 7.6). */
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
  /** After `Name`. A JSONPath, or, where kubectl shows what no path can say (counts), the cell's function. */
  readonly columns: readonly (PrinterColumn | TableColumn)[]
  readonly status: boolean
  readonly scale?: ScalePaths
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
  /** Sent with every request to a deprecated version. */
  readonly deprecationWarning?: string
}

/** Whoever turns objects of one version into another (chapter 40, rule 7.42). */
export interface ConversionWebhook {
  readonly url: string
  /** PEM, base64. */
  readonly caBundle?: string
  readonly reviewVersions: readonly string[]
}

/** A kind that Oriel itself defines: built-in kinds of Kubernetes and kinds of kcp. Pure data. */
export interface KindDefinition {
  readonly group: string
  readonly names: ResourceNames
  readonly namespaced: boolean
  readonly versions: readonly KindVersion[]
  /** Absent: versions differ in their names and in what they know. */
  readonly conversion?: ConversionWebhook
}

/** The schema of one version of a kind. Throws a `TypeError` when there is no such version. */
export function schemaFor(kind: KindDefinition, version: string): JSONSchemaProps {
  const found = kind.versions.find(v => v.name === version)
  if (found === undefined) throw new TypeError(`${kind.names.kind} has no version ${version}`)
  return found.schema
}

/** `widgets.example.com`; `configmaps.core` for the core group: how CRDs and schemas name a resource. */
export const resourceName = ({ group, names }: KindDefinition): string =>
  `${names.plural}.${group === '' ? 'core' : group}`

/**
 * The APIResourceSchema with which an APIExport can offer a kind, named `<prefix>.<plural>.<group>` (chapter 20,
 * sections 2.10 and 9.3). Columns that are functions are left out: no JSONPath says them.
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
