import { type ApiSet, apiSetOf } from '../../framework/contract/apis.ts'
import {
  type ClusterName,
  groupResource,
  isSystemCluster,
  type KubeObject,
} from '../../framework/meta/object.ts'
import { asCrd, isEstablished } from '../registry/crd.ts'
import type { Opener } from '../registry/registry.ts'
import {
  type Binders,
  type BoundResources,
  boundName,
  changedNames,
  createBinders,
  createBoundReader,
  createIdentities,
  createSchemas,
  createShared,
  type Identities,
  type SchemaItem,
  type SchemaSource,
  type Schemas,
  type SharedValues,
} from './bound.ts'
import type { WatchEnds } from './ends.ts'
import { crdServed, type ResourcesOf, type ServedDefinition, servedName } from './served.ts'

/**
 * The resources of every logical cluster. The cost of an update depends on the change only, and nothing is computed
 * for a cluster without requests.
 */
export interface ClusterApis {
  /** A LogicalCluster was created or deleted: a cluster without one serves nothing, except `system:*`. */
  setCluster(cluster: ClusterName, exists: boolean): void
  setBinding(cluster: ClusterName, name: string, binding: KubeObject | undefined): void
  /** An APIResourceSchema, or its copy in `system:bound-crds`; decoded when it is bound. */
  setSchema(uid: string, source: SchemaSource, schema: SchemaItem | undefined): void
  setDefinition(cluster: ClusterName, name: string, crd: KubeObject | undefined): void
  /** The same object until something changes; clusters that serve the same resources share one object. */
  of(cluster: ClusterName): ClusterApiSet | undefined
  /** The definitions under which clusters serve the bound resource of an identity: the same array until one changes. */
  identified(groupResource: string, identity: string): readonly ServedDefinition[]
  boundIn(cluster: ClusterName, groupResource: string, identity: string): ServedDefinition | undefined
  /** The definition or the binding by which each cluster may have new objects of a custom or bound resource. */
  openerOf(served: ServedDefinition): (cluster: ClusterName) => Opener | undefined
  /** A definition of a resource in any cluster, of any identity. */
  anyOf(groupResource: string): ServedDefinition | undefined
  /** Whether a binding has this APIResourceSchema in its status. */
  isBound(schemaUid: string): boolean
}

/** The APIs of logical clusters that serve the same definitions. */
export interface ClusterApiSet extends ApiSet {
  /** The ids of these definitions. */
  readonly definitions: ReadonlySet<string>
}

export interface ClusterApisOptions {
  /** Served by every cluster, and not replaced by definitions and bindings of a cluster. */
  readonly system: readonly ServedDefinition[]
  readonly builtin: readonly ServedDefinition[]
  /** Resources of every cluster that are not stored: reviews. */
  readonly unstored: ApiSet['resources']
  readonly resourcesOf: ResourcesOf
  readonly ends: WatchEnds
}

interface ClusterState {
  exists: boolean
  readonly bindings: Map<string, BoundResources>
  readonly definitions: Map<string, ServedDefinition>
  apis: ClusterApiSet | undefined
}

/** The indexes of all known definitions, bindings and schemas. */
interface Index {
  readonly options: ClusterApisOptions
  readonly states: Map<ClusterName, ClusterState>
  readonly binders: Binders
  readonly schemas: Schemas
  readonly identities: Identities
  readonly readBound: (binding: KubeObject) => BoundResources
  /** The results of `identified` since the last change of a binding or a schema, by resource and identity. */
  readonly identified: Map<string, readonly ServedDefinition[]>
  /** ApiSets by the ids of their resources. */
  readonly sets: SharedValues<ClusterApiSet>
}

export function createClusterApis(options: ClusterApisOptions): ClusterApis {
  const index: Index = {
    options,
    states: new Map(),
    binders: createBinders(),
    schemas: createSchemas(),
    identities: createIdentities(),
    readBound: createBoundReader(),
    identified: new Map(),
    sets: createShared(),
  }
  return {
    setCluster(cluster, exists) {
      stateOf(index, cluster).exists = exists
      if (!exists) options.ends.endAll(cluster)
      changed(index, cluster, [])
    },
    setBinding: (cluster, name, binding) =>
      setBound(index, cluster, name, binding && index.readBound(binding)),
    setSchema(uid, source, schema) {
      index.identified.clear()
      if (index.schemas.set(uid, source, schema)) schemaChanged(index, uid)
    },
    setDefinition: (cluster, name, crd) =>
      setDefinition(index, cluster, name, crd && isEstablished(asCrd(crd)) ? crdServed(crd) : undefined),
    of: cluster => apisOf(index, cluster),
    identified: (name, identity) => identified(index, name, identity),
    boundIn: (cluster, name, identity) => boundIn(index, cluster, name, identity),
    openerOf: served => cluster => openerIn(index.states.get(cluster), served),
    anyOf: name => anyOf(index, name),
    isBound: uid => index.binders.of(uid) !== undefined,
  }
}

function stateOf({ states }: Index, cluster: ClusterName): ClusterState {
  const known = states.get(cluster)
  if (known !== undefined) return known
  const state = { exists: false, bindings: new Map(), definitions: new Map(), apis: undefined }
  states.set(cluster, state)
  return state
}

/** Ends the watches of resources whose definition changed. */
function changed(index: Index, cluster: ClusterName, names: Iterable<string>): void {
  const state = stateOf(index, cluster)
  state.apis = undefined
  for (const name of names) index.options.ends.end(cluster, name)
  const empty = !state.exists && state.bindings.size === 0 && state.definitions.size === 0
  if (empty) index.states.delete(cluster)
}

function setBound(index: Index, cluster: ClusterName, name: string, next: BoundResources | undefined): void {
  const { bindings } = stateOf(index, cluster)
  const old = bindings.get(name)
  if (old === next) return
  index.identified.clear()
  replace(bindings, name, next)
  if (old) index.identities.remove(old)
  if (next) index.identities.add(next)
  index.binders.update(cluster, old, bindings.values())
  changed(index, cluster, changedNames(old, next))
}

function schemaChanged(index: Index, uid: string): void {
  for (const cluster of index.binders.of(uid) ?? []) {
    const bound = [...(index.states.get(cluster)?.bindings.values() ?? [])].flatMap(b => b.resources)
    changed(index, cluster, bound.filter(b => b.schema.UID === uid).map(boundName))
  }
}

function identified(
  { identities, schemas, identified: known }: Index,
  name: string,
  identity: string,
): readonly ServedDefinition[] {
  const key = `${name}:${identity}`
  const found = known.get(key)
  if (found !== undefined) return found
  const bound = identities.of(name, identity)
  const served = bound.map(each => schemas.served(each, false)).filter(each => each !== undefined)
  known.set(key, served)
  return served
}

function anyOf({ identities, schemas, states }: Index, name: string): ServedDefinition | undefined {
  const bound = identities.any(name)
  const served = bound && schemas.served(bound, false)
  if (served !== undefined) return served
  for (const { definitions } of states.values()) {
    const defined = definitions.get(name)
    if (defined !== undefined) return defined
  }
  return undefined
}

function boundIn(
  { states, schemas }: Index,
  cluster: ClusterName,
  name: string,
  identity: string,
): ServedDefinition | undefined {
  for (const { resources, terminating } of states.get(cluster)?.bindings.values() ?? []) {
    const bound = resources.find(each => each.schema.identityHash === identity && boundName(each) === name)
    if (bound !== undefined) return schemas.served(bound, terminating)
  }
  return undefined
}

function openerIn(state: ClusterState | undefined, served: ServedDefinition): Opener | undefined {
  if (served.isCustom)
    return state?.definitions.get(servedName(served))?.terminating === false ? {} : undefined
  for (const [binding, bound] of state?.bindings ?? [])
    if (!bound.terminating && binds(bound, served)) return { binding }
  return undefined
}

const binds = ({ resources }: BoundResources, { definition, identity }: ServedDefinition): boolean =>
  resources.some(
    ({ group, resource, schema }) =>
      resource === definition.names.plural && group === definition.group && schema.identityHash === identity,
  )

function setDefinition(
  index: Index,
  cluster: ClusterName,
  name: string,
  next: ServedDefinition | undefined,
): void {
  const { definitions } = stateOf(index, cluster)
  const old = definitions.get(name)
  if (old?.id === next?.id) return
  replace(definitions, name, next)
  // Watches stay open while a definition is deleted, so that they get the deletion of its objects.
  const isGoing = next?.terminating === true && old?.terminating === false
  changed(index, cluster, isGoing ? [] : [name])
}

/** Resources of an ApiSet that logical clusters share: others do not have as many of the same. */
const mostShared = 500

function apisOf(index: Index, cluster: ClusterName): ClusterApiSet | undefined {
  const state = index.states.get(cluster)
  if (state?.exists !== true && !isSystemCluster(cluster)) return undefined
  if (state?.apis !== undefined) return state.apis
  const own = state === undefined ? [] : ownOf(state, index.schemas.served)
  const make = (): ClusterApiSet => compose(index.options, own)
  const apis = own.length > mostShared ? make() : index.sets.get(own.map(({ id }) => id).join('\n'), make)
  if (state !== undefined) state.apis = apis
  return apis
}

function replace<V>(map: Map<string, V>, key: string, value: V | undefined): void {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}

/** Bound resources in the order of the names of their bindings, then definitions of resources that are not bound. */
function ownOf(
  { bindings, definitions }: ClusterState,
  servedOf: (
    bound: BoundResources['resources'][number],
    terminating: boolean,
  ) => ServedDefinition | undefined,
): readonly ServedDefinition[] {
  const found = new Map<string, ServedDefinition>()
  const offer = (served: ServedDefinition | undefined): void => {
    if (served !== undefined && !found.has(servedName(served))) found.set(servedName(served), served)
  }
  for (const name of [...bindings.keys()].sort()) {
    const bound = bindings.get(name)
    for (const resource of bound?.resources ?? []) offer(servedOf(resource, bound?.terminating === true))
  }
  for (const name of [...definitions.keys()].sort()) offer(definitions.get(name))
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, served]) => served)
}

/**
 * System and built-in kinds precede the cluster's own: an APIExport of `secrets` must not give its provider the Secrets
 * of all consumers.
 */
export function compose(options: ClusterApisOptions, own: readonly ServedDefinition[]): ClusterApiSet {
  const found = new Map<string, ServedDefinition>()
  for (const served of [...own, ...options.builtin, ...options.system]) found.set(servedName(served), served)
  for (const { group, names } of options.unstored) found.delete(groupResource(group, names.plural))
  const all = [...found.values()]
  const set = apiSetOf([...all.flatMap(options.resourcesOf), ...options.unstored])
  const identified = new Map(all.filter(s => s.identity !== undefined).map(s => [servedName(s), s.identity]))
  return {
    ...set,
    definitions: new Set(all.map(({ id }) => id)),
    find(group, version, plural) {
      const colon = plural.indexOf(':')
      if (colon === -1) return set.find(group, version, plural)
      const resource = plural.slice(0, colon)
      const name = group === '' ? resource : `${resource}.${group}`
      return identified.get(name) === plural.slice(colon + 1) ? set.find(group, version, resource) : undefined
    },
  }
}
