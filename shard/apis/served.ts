import type { ServedKind } from '../../framework/cache/selection.ts'
import type { ApiResource } from '../../framework/contract/apis.ts'
import { internalError } from '../../framework/meta/errors.ts'
import { apiVersionOf, groupResource, type KubeObject } from '../../framework/meta/object.ts'
import type { BoundAPIResource } from '../../kcp/apis.ts'
import { selectableFieldsOf } from '../../openapi/columns.ts'
import type { KindDefinition } from '../../openapi/definitions/definition.ts'
import { eventSource } from '../../openapi/definitions/kubernetes/events.ts'
import { omittingEmpty } from '../../openapi/definitions/kubernetes/kind.ts'
import { definitionOf } from '../../openapi/resource.ts'
import { builtinSegment, customSegment } from '../cache/segments.ts'
import { asCrd, cleanupFinalizer } from '../registry/crd.ts'
import { customStrategy, kindStrategyOf, pathNamedStrategy } from '../registry/reststrategy.ts'
import type { KindStrategy } from '../registry/strategy.ts'

/** One resource as some logical clusters serve it: a definition, and the segment of its objects. */
export interface ServedDefinition {
  /** Equal for equal definitions; part of the key under which ApiSets are shared. */
  readonly id: string
  readonly definition: KindDefinition
  /** The storage segment: '-', 'customresources', or the identity of the export. */
  readonly segment: string
  /** For bound resources. */
  readonly identity?: string
  /** A CustomResourceDefinition of the logical cluster defines it. */
  readonly isCustom?: true
  readonly rest: KindStrategy
  /** Versions in which objects may have been stored. */
  readonly storedVersions: readonly string[]
  /** Objects come from virtual storage and are not stored here. */
  readonly isVirtual: boolean
  /** Being deleted: creations are refused (rules.md 2.59). */
  readonly terminating: boolean
}

/** Makes the resources of a definition, in every served version. */
export type ResourcesOf = (served: ServedDefinition) => readonly ApiResource[]

export const servedName = ({ definition: { group, names } }: ServedDefinition): string =>
  groupResource(group, names.plural)

/** The kind of a served resource in one version for reads of the watch cache. */
export function servedKind({ definition }: ServedDefinition, version: string): ServedKind {
  const fields = selectableFieldsOf(definition.versions.find(v => v.name === version)?.selectableFields ?? [])
  const { group, names } = definition
  const isCoreEvent = group === '' && names.plural === 'events'
  return {
    apiVersion: apiVersionOf(group, version),
    kind: names.kind,
    fields: isCoreEvent ? { ...fields, source: eventSource } : fields,
  }
}

export const storageVersionOf = (definition: KindDefinition): string =>
  definition.versions.find(version => version.storage)?.name ?? ''

/**
 * Throws 500 for an object that was stored in a version that its kind has no longer: it cannot be converted, and its fields would be lost
 * (apiextensions-apiserver `conversion.crConverter.Convert`).
 */
export function checkKnownVersion({ group, versions }: KindDefinition, { apiVersion }: KubeObject): void {
  if (versions.some(({ name }) => apiVersionOf(group, name) === apiVersion)) return
  throw internalError(`request to convert CR from an invalid group/version: ${apiVersion}`)
}

/** Kinds with Go types: empty fields are omitted. */
function typedStrategy(name: string, { versions }: KindDefinition): KindStrategy {
  const rest = kindStrategyOf(name)
  const [schema = {}] = versions.map(version => version.schema)
  const omit = omittingEmpty(schema)
  return { ...rest, complete: object => rest.complete?.(omit(object)) ?? omit(object) }
}

/** A built-in kind of Kubernetes. */
export function builtinServed(definition: KindDefinition): ServedDefinition {
  const name = groupResource(definition.group, definition.names.plural)
  return {
    id: name,
    definition,
    segment: builtinSegment,
    rest: typedStrategy(name, definition),
    storedVersions: [storageVersionOf(definition)],
    isVirtual: false,
    terminating: false,
  }
}

/** A kind of kcp that every cluster serves without a binding. */
export const systemServed = (definition: KindDefinition): ServedDefinition => ({
  ...builtinServed(definition),
  segment: customSegment,
  rest: customStrategy,
})

const namesPaths = ({ metadata, spec }: KubeObject): boolean =>
  metadata.annotations?.['internal.kcp.io/validate-name'] === 'path-segment' ||
  (spec as { readonly nameValidation?: string }).nameValidation === 'PathSegmentName'

/** Whether the objects of a definition are deleted, before it is. */
const isCleaned = ({ metadata: { deletionTimestamp, finalizers = [] } }: KubeObject): boolean =>
  deletionTimestamp !== undefined && finalizers.includes(cleanupFinalizer)

/** The resource of a CustomResourceDefinition in its cluster. */
export function crdServed(object: KubeObject): ServedDefinition {
  const crd = asCrd(object)
  const { uid, generation } = crd.metadata
  const terminating = isCleaned(crd)
  const storedVersions = crd.status?.storedVersions ?? []
  return {
    id: `crd ${uid} ${generation} ${storedVersions.join(',')} ${terminating}`,
    definition: definitionOf(object),
    segment: customSegment,
    isCustom: true,
    rest: namesPaths(object) ? pathNamedStrategy : customStrategy,
    storedVersions,
    isVirtual: false,
    terminating,
  }
}

export const boundId = ({ schema, storageVersions }: BoundAPIResource, terminating: boolean): string =>
  `bound ${schema.UID} ${schema.identityHash} ${(storageVersions ?? []).join(',')} ${terminating}`

/** Resources with virtual storage have no stored versions. */
export const isVirtual = ({ storageVersions = [] }: BoundAPIResource): boolean => storageVersions.length === 0

/** The resource that an APIBinding makes of an APIResourceSchema, or of its copy. */
export function boundServed(
  bound: BoundAPIResource,
  schema: KubeObject,
  terminating: boolean,
): ServedDefinition {
  const definition = definitionOf(schema)
  return {
    id: boundId(bound, terminating),
    definition,
    segment: bound.schema.identityHash,
    identity: bound.schema.identityHash,
    rest: namesPaths(schema) ? pathNamedStrategy : customStrategy,
    storedVersions: bound.storageVersions?.length ? bound.storageVersions : [storageVersionOf(definition)],
    isVirtual: isVirtual(bound),
    terminating,
  }
}
