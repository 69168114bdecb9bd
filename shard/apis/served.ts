import type { ApiResource } from '../../framework/contract/apis.ts'
import { groupResource, type KubeObject } from '../../framework/meta/object.ts'
import type { BoundAPIResource } from '../../kcp/apis.ts'
import type { KindDefinition } from '../../openapi/definitions/definition.ts'
import { omittingEmpty } from '../../openapi/definitions/kubernetes/kind.ts'
import { definitionOf } from '../../openapi/resource.ts'
import { asCrd, cleanupFinalizer } from '../registry/crd.ts'
import { customStrategy, kindStrategyOf, pathNamedStrategy } from '../registry/reststrategy.ts'
import type { KindStrategy } from '../registry/strategy.ts'

/** The storage segments of resources that are not bound (BRIEF decision 2). */
export const builtinSegment = '-'
export const customSegment = 'customresources'

/** Whether a segment is the identity of an export: what is in it was bound. */
export const isIdentity = (segment: string): boolean =>
  segment !== builtinSegment && segment !== customSegment

/** One resource as some logical clusters serve it: a definition, and where its objects lie. */
export interface ServedDefinition {
  /** Equal for what is served alike; part of the key under which ApiSets are shared. */
  readonly id: string
  readonly definition: KindDefinition
  /** Where the objects lie: '-', 'customresources', or the identity of the export. */
  readonly segment: string
  /** For bound resources. */
  readonly identity?: string
  readonly rest: KindStrategy
  /** Versions in which objects may have been stored. */
  readonly storedVersions: readonly string[]
  /** Objects are read elsewhere, and nothing is stored here (chapter 20, section 6.7). */
  readonly isVirtual: boolean
  /** Being deleted: nothing new is created (chapter 40, rule 2.59). */
  readonly terminating: boolean
}

/** Makes the resources of what is served, in every served version. */
export type ResourcesOf = (served: ServedDefinition) => readonly ApiResource[]

export const servedName = ({ definition: { group, names } }: ServedDefinition): string =>
  groupResource(group, names.plural)

export const storageVersionOf = (definition: KindDefinition): string =>
  definition.versions.find(version => version.storage)?.name ?? ''

/** Kinds with types in Go: what is empty there is not written. */
function typedStrategy(name: string, { versions }: KindDefinition): KindStrategy {
  const rest = kindStrategyOf(name)
  const [schema = {}] = versions.map(version => version.schema)
  const omit = omittingEmpty(schema)
  return { ...rest, complete: object => rest.complete?.(omit(object)) ?? omit(object) }
}

/** A kind that Kubernetes brings along. */
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

/** A kind of kcp that every cluster has without binding it (chapter 20, section 6.1). */
export const systemServed = (definition: KindDefinition): ServedDefinition => ({
  ...builtinServed(definition),
  segment: customSegment,
  rest: customStrategy,
})

const namesPaths = ({ metadata, spec }: KubeObject): boolean =>
  metadata.annotations?.['internal.kcp.io/validate-name'] === 'path-segment' ||
  (spec as { readonly nameValidation?: string }).nameValidation === 'PathSegmentName'

/** What a CustomResourceDefinition serves in its own cluster. */
export function crdServed(object: KubeObject): ServedDefinition {
  const crd = asCrd(object)
  const { uid, generation, deletionTimestamp, finalizers } = crd.metadata
  const terminating = deletionTimestamp !== undefined && (finalizers ?? []).includes(cleanupFinalizer)
  const storedVersions = crd.status?.storedVersions ?? []
  return {
    id: `crd ${uid} ${generation} ${storedVersions.join(',')} ${terminating}`,
    definition: definitionOf(object),
    segment: customSegment,
    rest: namesPaths(object) ? pathNamedStrategy : customStrategy,
    storedVersions,
    isVirtual: false,
    terminating,
  }
}

export const boundId = ({ schema, storageVersions }: BoundAPIResource, terminating: boolean): string =>
  `bound ${schema.UID} ${schema.identityHash} ${(storageVersions ?? []).join(',')} ${terminating}`

/** What is read elsewhere has been stored in no version. */
export const isVirtual = ({ storageVersions = [] }: BoundAPIResource): boolean => storageVersions.length === 0

/** What an APIBinding makes of an APIResourceSchema, or of the copy of it. */
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
