import type { Params } from './context.ts'
import type { KubeObject } from './object.ts'
import type { Verb } from './requestinfo.ts'
import type { ObjectSchema, TableColumn } from './schema.ts'
import type { ResourceStorage } from './storage.ts'

/** The names of a kind, as a CRD's `spec.names`. */
export interface ResourceNames {
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly listKind: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** `status`, `scale`, `token`, …: what is below an object's name. */
export interface Subresource<P extends Params = Params> {
  readonly name: string
  /** Differs from the parent for scale (`autoscaling/v1 Scale`) and token (`authentication.k8s.io/v1 TokenRequest`). */
  readonly group?: string
  readonly version?: string
  readonly kind: string
  readonly verbs: readonly Verb[]
  readonly storage: ResourceStorage<P>
  readonly schema: ObjectSchema
}

/**
 * One resource in one version, with everything a request needs precomputed. Routing, discovery and OpenAPI read the
 * same data: what `verbs` does not name is 405.
 */
export interface ApiResource<P extends Params = Params> {
  readonly group: string
  readonly version: string
  readonly names: ResourceNames
  readonly namespaced: boolean
  readonly verbs: readonly Verb[]
  readonly storage: ResourceStorage<P>
  readonly schema: ObjectSchema
  /** Printer columns after `Name`. */
  readonly columns: readonly TableColumn[]
  readonly subresources: readonly Subresource<P>[]
  /** For discovery: base64 of 8 bytes (chapter 40, rule 8.4). */
  readonly storageVersionHash?: string
  /** Custom resources keep kind and apiVersion on list items and refuse strategic merge patch (chapter 40, 4.2, 5.1). */
  readonly custom: boolean
  /** PUT without resourceVersion: last write wins, else 422 (chapter 40, rule 3.22). */
  readonly unconditionalUpdate: boolean
  /** PUT of a missing object creates it (chapter 40, rule 3.23). */
  readonly createOnUpdate: boolean
  /** DELETE answers with the object instead of a Status (chapter 40, rule 6.6). */
  readonly deleteReturnsObject?: boolean
  /** Field selectors besides metadata.name and metadata.namespace: field → value as a string, '' when absent. */
  readonly selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>
  /** Sent as a warning with every request to a deprecated version (chapter 40, rule 7.44). */
  readonly deprecationWarning?: string
  /** The OpenAPI v3 schema that is published for this kind, unresolved; read by the OpenAPI documents only. */
  readonly openapi: Readonly<Record<string, unknown>>
}

/**
 * What one endpoint serves. Immutable and shared: the same object until something changes, so that discovery and
 * OpenAPI documents can be kept in a WeakMap by ApiSet.
 */
export interface ApiSet<P extends Params = Params> {
  /** Sorted by group, then version in Kubernetes' order, then plural. */
  readonly resources: readonly ApiResource<P>[]
  find(group: string, version: string, plural: string): ApiResource<P> | undefined
  /** Aborted when this set is replaced: watches on resources that are gone or changed end cleanly. */
  readonly replaced?: AbortSignal
}
