import type { ResourceNames } from '../../framework/contract/apis.ts'
import type { TableColumn } from '../../framework/contract/schema.ts'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'

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
