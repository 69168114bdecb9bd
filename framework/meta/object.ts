/**
 * Kubernetes objects as plain data. Oriel treats a decoded object as immutable: whoever wants another one copies.
 */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined }

/** `metadata.ownerReferences[]`. */
export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** `metadata` of a decoded object (chapter 40, section 3). */
export interface Metadata {
  readonly name?: string
  readonly generateName?: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
  readonly managedFields?: readonly Json[]
}

/** Any Kubernetes object. Kinds with a known shape extend it with `spec` and `status`. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Metadata
  readonly [field: string]: unknown
}

/** Which resource, in which version; `group` is '' for core. */
export interface GroupVersionResource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** A logical cluster's name, such as `root` or `2hx8kq0p4z7vw1a9`; never a path, never `*`. */
export type ClusterName = string

/** What one request looks at: one logical cluster, or `*` for all of them. */
export type ClusterScope = ClusterName | '*'

/** Where an object lives. `namespace` is '' for cluster-scoped kinds. */
export interface ObjectKey {
  readonly cluster: ClusterName
  readonly namespace: string
  readonly name: string
}

/** `group/version`, or just `version` for the core group. */
export const apiVersionOf = (group: string, version: string): string =>
  group === '' ? version : `${group}/${version}`

/** The version in an apiVersion. */
export const versionOf = (apiVersion: string): string => apiVersion.replace(/^.*\//, '')

/** `resource.group`, or just `resource` for the core group: the `GR` of chapter 40's messages. */
export const groupResource = (group: string, resource: string): string =>
  group === '' ? resource : `${resource}.${group}`

/** UTC, whole seconds: `metav1.Time` (chapter 40, rule 3.39). */
export const timestamp = (time: Date = new Date()): string => time.toISOString().replace(/\.\d+Z$/, 'Z')
