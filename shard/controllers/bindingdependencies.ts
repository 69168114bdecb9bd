import type { Informer, Informers } from '../../framework/contract/informer.ts'
import { type ClusterName, groupResource } from '../../framework/meta/object.ts'
import type { APIBinding, APIExport, APIResourceSchema } from '../../kcp/apis.ts'
import { needsNoIdentity, type PermissionClaim } from '../../kcp/claims.ts'
import { exportHash, exportLabel } from '../../kcp/labels.ts'
import { resources } from '../../kcp/resources.ts'
import { type BoundSchema, boundSchemas } from '../bindings/boundschemas.ts'
import { type NamesInUse, namesInUse } from '../bindings/namesinuse.ts'
import {
  bindingHolder,
  namesOf,
  type ResourceOwner,
  resourceName,
  type TakenNames,
} from '../bindings/namingconflicts.ts'
import type { ClusterDirectory } from '../tenancy/directory.ts'

/** The objects that a binding depends on, from memory. */
export interface BindingDependencies {
  readonly cluster: ClusterName
  /** undefined: the workspace or the export does not exist, or it is another one than the binding is bound to. */
  readonly exported: { readonly cluster: ClusterName; readonly object: APIExport } | undefined
  /** The reference leads to an export, and the binding is bound to another one. */
  readonly isAnother: boolean
  schema(cluster: ClusterName, name: string): APIResourceSchema | undefined
  /** Locks a resource for this binding; otherwise returns its owner. */
  take(resource: string): ResourceOwner | undefined
  /** The names of other resources in this logical cluster that have a name of the schema. */
  taken(schema: APIResourceSchema): readonly TakenNames[]
  isServed(claim: PermissionClaim): boolean
}

/** The informers of bindings. */
interface BindingSources {
  readonly bindings: Informer
  readonly schemas: Informer
  readonly crds: Informer
  readonly schemaOf: (uid: string) => BoundSchema | undefined
  readonly names: NamesInUse
  /** Whether an export with this identity has the resource. */
  readonly isExported: (identity: string, resource: string) => boolean
}

export function bindingSources(informers: Informers): BindingSources {
  const exported = informers.for(resources.apiExports).index(({ object }) => {
    const { spec, status } = object as APIExport
    if (status?.identityHash === undefined) return []
    return (spec?.resources ?? []).map(({ group, name }) =>
      exportedKey(status.identityHash ?? '', groupResource(group, name)),
    )
  })
  return {
    bindings: informers.for(resources.apiBindings),
    schemas: informers.for(resources.apiResourceSchemas),
    crds: informers.for(resources.crds),
    schemaOf: boundSchemas(informers),
    names: namesInUse(informers),
    isExported: (identity, resource) => exported(exportedKey(identity, resource)).length > 0,
  }
}

const exportedKey = (identity: string, resource: string): string => `${identity}|${resource}`

type ExportOfBinding = Pick<BindingDependencies, 'exported' | 'isAnother'>

/**
 * The export that a binding refers to, if admission has checked the permission to bind this one: the path of the reference
 * may lead to another logical cluster since.
 */
export function exportOf(
  directory: ClusterDirectory,
  from: ClusterName,
  { spec, metadata }: APIBinding,
): ExportOfBinding {
  const reference = spec?.reference?.export
  const cluster = reference && directory.referencedCluster(reference, from)
  const object = reference && cluster && directory.apiExport(cluster, reference.name)
  if (!cluster || !object) return { exported: undefined, isAnother: false }
  const admitted = metadata.labels?.[exportLabel]
  const isAnother = admitted !== undefined && admitted !== exportHash({ cluster, name: reference.name })
  return { exported: isAnother ? undefined : { cluster, object }, isAnother }
}

/** The informers and locks that all bindings share. */
export interface Bindings {
  readonly sources: BindingSources
  readonly locks: Locks
}

/** The logical cluster and the export of a binding. */
export interface BindingPlace extends Pick<BindingDependencies, 'cluster' | 'exported'> {
  readonly isAnother?: boolean
  /** Bindings that are stored in the same commit. */
  readonly siblings?: readonly APIBinding[]
}

/** The dependencies of a binding. Locked resources stay locked until `locks.release`. */
export function dependenciesOf(
  { sources, locks }: Bindings,
  binding: APIBinding,
  { cluster, exported, isAnother = false, siblings = [] }: BindingPlace,
): BindingDependencies {
  const name = binding.metadata.name ?? ''
  const own = new Set((binding.status?.boundResources ?? []).map(resourceName))
  const neighbours = { sources, cluster, name, siblings }
  return {
    cluster,
    exported,
    isAnother,
    schema: (from, schema) => sources.schemas.get(from, '', schema)?.object as APIResourceSchema,
    take(resource) {
      const holder = own.has(resource) ? undefined : holderOf(neighbours, resource)
      if (holder !== undefined) return holder
      const first = locks.take(cluster, resource, name)
      return first === name ? undefined : { binding: first, crd: false }
    },
    taken: schema => takenFrom(neighbours, schema),
    isServed: ({ group = '', resource, identityHash = '' }) =>
      needsNoIdentity(group, resource) || sources.isExported(identityHash, groupResource(group, resource)),
  }
}

/** What else a logical cluster binds and defines, besides the binding of this name. */
interface Neighbours {
  readonly sources: BindingSources
  readonly cluster: ClusterName
  readonly name: string
  readonly siblings: readonly APIBinding[]
}

/** The owner of a resource (`<plural>.<group>`). */
function holderOf(
  { sources, cluster, name, siblings }: Neighbours,
  resource: string,
): ResourceOwner | undefined {
  const bound = siblings.findLast(each => boundBy(each).some(bound => resourceName(bound) === resource))
  const stored = sources.names.holdersOf(cluster, resource).findLast(({ key }) => key.name !== name)
  const binding = bound?.metadata.name ?? stored?.key.name
  if (binding !== undefined) return { binding, crd: false }
  return sources.crds.get(cluster, '', resource) && { binding: '', crd: true }
}

/** The names of bindings and definitions that have a name of the schema. */
function takenFrom(
  { sources, cluster, name, siblings }: Neighbours,
  { spec: { group, names } }: APIResourceSchema,
): readonly TakenNames[] {
  const wanted = namesOf(names)
  const stored = sources.names.bindingsWith(cluster, group, wanted).filter(({ key }) => key.name !== name)
  const bindings = [...stored.map(({ object }) => object as APIBinding), ...siblings]
  const definitions = sources.names.definitionsWith(cluster, group, wanted)
  return [
    ...bindings.flatMap(binding => namesBoundBy(sources, binding)),
    ...definitions.map(({ key, object }) => ({
      group,
      names: (object as APIResourceSchema).spec.names,
      by: `CustomResourceDefinition "${key.name}"`,
    })),
  ]
}

const boundBy = ({ status }: APIBinding) => status?.boundResources ?? []

/** The names of the resources that a binding has. */
const namesBoundBy = ({ schemaOf }: BindingSources, binding: APIBinding): readonly TakenNames[] =>
  boundBy(binding).flatMap(({ schema }) => {
    const known = schemaOf(schema.UID)
    const by = bindingHolder(binding.metadata.name ?? '', binding.spec?.reference?.export)
    return known === undefined ? [] : [{ group: known.spec.group, names: known.spec.names, by }]
  })

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
