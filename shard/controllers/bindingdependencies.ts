import type { Informer, Informers } from '../../framework/contract/informer.ts'
import type { Item } from '../../framework/contract/item.ts'
import { type ClusterName, groupResource } from '../../framework/meta/object.ts'
import type { APIBinding, APIExport, APIResourceSchema } from '../../kcp/apis.ts'
import { needsNoIdentity, type PermissionClaim } from '../../kcp/claims.ts'
import { resources } from '../../kcp/resources.ts'
import { type BoundSchema, boundSchemas } from '../bindings/boundschemas.ts'
import {
  bindingHolder,
  type ResourceOwner,
  resourceName,
  type TakenNames,
} from '../bindings/namingconflicts.ts'
import type { ClusterDirectory } from '../tenancy/directory.ts'

/** The objects that a binding depends on, from memory. */
export interface BindingDependencies {
  readonly cluster: ClusterName
  /** undefined: the workspace or the export does not exist. */
  readonly exported: { readonly cluster: ClusterName; readonly object: APIExport } | undefined
  schema(cluster: ClusterName, name: string): APIResourceSchema | undefined
  /** Locks a resource for this binding; otherwise returns its owner. */
  take(resource: string): ResourceOwner | undefined
  /** Names of other resources in this logical cluster. */
  readonly taken: readonly TakenNames[]
  isServed(claim: PermissionClaim): boolean
}

/** The informers of bindings. */
interface BindingSources {
  readonly bindings: Informer
  readonly schemas: Informer
  readonly crds: Informer
  readonly schemaOf: (uid: string) => BoundSchema | undefined
  readonly byIdentity: (identity: string) => readonly Item[]
}

export function bindingSources(informers: Informers): BindingSources {
  const schemas = informers.for(resources.apiResourceSchemas)
  const exports = informers.for(resources.apiExports)
  return {
    bindings: informers.for(resources.apiBindings),
    schemas,
    crds: informers.for(resources.crds),
    schemaOf: boundSchemas(informers),
    byIdentity: exports.index(({ object }) => {
      const identity = (object as APIExport).status?.identityHash
      return identity === undefined ? [] : [identity]
    }),
  }
}

/** The export that a binding refers to. */
export function exportOf(
  directory: ClusterDirectory,
  from: ClusterName,
  { spec }: APIBinding,
): BindingDependencies['exported'] {
  const reference = spec?.reference?.export
  const cluster = reference && directory.clusterOf(reference, from)
  const object = reference && cluster && directory.apiExport(cluster, reference.name)
  return cluster && object ? { cluster, object } : undefined
}

/** The informers and locks that all bindings share. */
export interface Bindings {
  readonly sources: BindingSources
  readonly locks: Locks
}

/** The logical cluster and the export of a binding. */
export interface BindingPlace extends Pick<BindingDependencies, 'cluster' | 'exported'> {
  /** Bindings that are stored in the same commit. */
  readonly siblings?: readonly APIBinding[]
}

/** The dependencies of a binding. Locked resources stay locked until `locks.release`. */
export function dependenciesOf(
  { sources, locks }: Bindings,
  binding: APIBinding,
  { cluster, exported, siblings = [] }: BindingPlace,
): BindingDependencies {
  const name = binding.metadata.name ?? ''
  const stored = sources.bindings
    .list(cluster)
    .filter(item => item.key.name !== name)
    .map(item => item.object as APIBinding)
  const others = [...stored, ...siblings]
  const definitions = sources.crds.list(cluster).map(item => item.object as APIResourceSchema)
  const held = heldResources(others, definitions)
  const own = new Set((binding.status?.boundResources ?? []).map(resourceName))
  return {
    cluster,
    exported,
    schema: (from, schema) => sources.schemas.get(from, '', schema)?.object as APIResourceSchema,
    take(resource) {
      const holder = own.has(resource) ? undefined : held.get(resource)
      if (holder !== undefined) return holder
      const first = locks.take(cluster, resource, name)
      return first === name ? undefined : { binding: first, crd: false }
    },
    taken: namesIn(sources, others, definitions),
    isServed: claim =>
      needsNoIdentity(claim.group ?? '', claim.resource) ||
      sources.byIdentity(claim.identityHash ?? '').some(item => exportsResource(item, claim)),
  }
}

const exportsResource = (
  { object }: Item,
  { group = '', resource }: { readonly group?: string; readonly resource: string },
): boolean =>
  (object as APIExport).spec?.resources?.some(each => each.name === resource && each.group === group) ?? false

/** The owners of the resources in a logical cluster. */
function heldResources(
  bindings: readonly APIBinding[],
  definitions: readonly APIResourceSchema[],
): ReadonlyMap<string, ResourceOwner> {
  const held = new Map<string, ResourceOwner>()
  for (const { spec } of definitions)
    held.set(groupResource(spec.group, spec.names.plural), { binding: '', crd: true })
  for (const { metadata, status } of bindings)
    for (const bound of status?.boundResources ?? [])
      held.set(resourceName(bound), { binding: metadata.name ?? '', crd: false })
  return held
}

/** The names of the resources that bindings and definitions have. */
function namesIn(
  { schemaOf }: BindingSources,
  bindings: readonly APIBinding[],
  definitions: readonly APIResourceSchema[],
): readonly TakenNames[] {
  const bound = bindings.flatMap(({ metadata, spec, status }) =>
    (status?.boundResources ?? []).flatMap(({ schema }) => {
      const known = schemaOf(schema.UID)
      const by = bindingHolder(metadata.name ?? '', spec?.reference?.export)
      return known === undefined ? [] : [{ group: known.spec.group, names: known.spec.names, by }]
    }),
  )
  const defined = definitions.map(({ metadata, spec }) => ({
    group: spec.group,
    names: spec.names,
    by: `CustomResourceDefinition "${metadata.name ?? ''}"`,
  }))
  return [...bound, ...defined]
}

/**
 * Locks on resources that are being bound, until `status.boundResources` is written: of two concurrent bindings of
 * a resource, one gets it.
 */
interface Locks {
  /** The name of the binding that has the lock: `binding` itself if the resource was free. */
  take(cluster: ClusterName, resource: string, binding: string): string
  /** Releases the locks of a binding after its status was written or the binding was dropped. */
  release(cluster: ClusterName, binding: string): void
}

export function createLocks(): Locks {
  const holders = new Map<ClusterName, Map<string, string>>()
  return {
    take(cluster, resource, binding) {
      const held = holders.get(cluster) ?? new Map<string, string>()
      const holder = held.get(resource) ?? binding
      holders.set(cluster, held.set(resource, holder))
      return holder
    },
    release(cluster, binding) {
      const held = holders.get(cluster)
      for (const [resource, holder] of held ?? []) if (holder === binding) held?.delete(resource)
      if (held?.size === 0) holders.delete(cluster)
    },
  }
}
