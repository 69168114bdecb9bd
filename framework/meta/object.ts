/** A JSON value. Decoded objects are immutable: code that changes an object copies it. */
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

/** `metadata` of a decoded object: `metav1.ObjectMeta`. `objectmeta.ts` describes the fields. */
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

/** A decoded Kubernetes object. Immutable: code that changes an object copies it. Interfaces of kinds add `spec` and `status`. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Metadata
  readonly [field: string]: unknown
}

/** A resource in one version; `group` is empty for the core group. */
export interface GroupVersionResource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** Name of a logical cluster, such as `root` or `2hx8kq0p4z7vw1a9`; neither a path nor `*`. */
export type ClusterName = string

/** Whether a cluster name or a path is that of a system cluster such as `system:admin`, which every shard has for itself. */
export const isSystemCluster = (text: string): boolean => text.startsWith('system:')

/** The logical cluster of a request; `*` for all. */
export type ClusterScope = ClusterName | '*'

/** The key of an object. `namespace` is empty for cluster-scoped kinds. */
export interface ObjectKey {
  readonly cluster: ClusterName
  readonly namespace: string
  readonly name: string
}

/** Identifies a resource or subresource in one version; bound resources also by the identity of their APIExport. */
export const resourceId = ({
  group,
  version,
  resource,
  subresource = '',
  identity = '',
}: GroupVersionResource & { readonly subresource?: string; readonly identity?: string }): string =>
  [group, version, resource, subresource, identity].join('/')

/** `group/version`, or `version` for the core group. */
export const apiVersionOf = (group: string, version: string): string =>
  group === '' ? version : `${group}/${version}`

/** The group of an apiVersion: '' for the core group. */
export const groupIn = (apiVersion: string): string =>
  apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')))

/** The version of an apiVersion. */
export const versionIn = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf('/') + 1)

/** Whether `schema.ParseGroupVersion` accepts an apiVersion. */
export const isGroupVersion = (apiVersion: string): boolean =>
  apiVersion.indexOf('/') === apiVersion.lastIndexOf('/')

type OwnerProblem = readonly [field: keyof OwnerReference | '', problem: string]

const ownerFields = ['kind', 'name', 'uid'] as const

/** The problems of an owner reference with their fields, '' for all of it (`validateOwnerReference` of Kubernetes). */
export function ownerProblems(owner: OwnerReference): readonly OwnerProblem[] {
  const { apiVersion = '' } = owner
  const versionless = !isGroupVersion(apiVersion) || versionIn(apiVersion) === ''
  const empty = ownerFields.filter(field => !owner[field])
  const isEvent = printKind({ ...owner, apiVersion }) === coreEvent
  return [
    ...(versionless ? [['apiVersion', 'version must not be empty'] as const] : []),
    ...empty.map(field => [field, 'must not be empty'] as const),
    ...(isEvent ? [['', `${coreEvent} is disallowed from being an owner`] as const] : []),
  ]
}

/** The problem of several owners that are the controller. */
export function controllersProblem(owners: readonly OwnerReference[]): string | undefined {
  const [first, second] = owners.filter(owner => owner.controller === true)
  if (first === undefined || second === undefined) return undefined
  const names = `${first.kind}/${first.name} and ${second.kind}/${second.name}`
  return `Only one reference can have Controller set to true. Found "true" in references for ${names}`
}

const coreEvent = '/v1, Kind=Event'

/** `group/version, Kind=kind`: `schema.GroupVersionKind.String`. The core group is empty: `/v1, Kind=Pod`. */
export const printKind = ({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): string =>
  `${groupIn(apiVersion)}/${versionIn(apiVersion)}, Kind=${kind}`

/** `resource.group`, or `resource` for the core group: `schema.GroupResource.String`. */
export const groupResource = (group: string, resource: string): string =>
  group === '' ? resource : `${resource}.${group}`

/** `metav1.Time`: UTC, whole seconds (rules.md 3.39). */
export const timestamp = (time: Date = new Date()): string =>
  `${time.toISOString().slice(0, -'.000Z'.length)}Z`
