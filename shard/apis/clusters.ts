import { type ApiSet, apiSetOf } from '../../framework/apis.ts'
import type { ClusterName, KubeObject } from '../../framework/object.ts'
import { asCrd, isEstablished } from '../registry/crd.ts'
import {
  type Bound,
  boundName,
  createBoundReader,
  createIdentities,
  createSchemas,
  type SchemaItem,
} from './bound.ts'
import type { WatchEnds } from './ends.ts'
import { crdServed, type ResourcesOf, type Served, servedName } from './served.ts'
import { createShared } from './shared.ts'

/**
 * What every logical cluster serves, kept from changes: each setter costs what changed, and nothing is computed for a
 * cluster that nobody asks about.
 */
export interface ClusterApis {
  /** A LogicalCluster came or went: without one a cluster serves nothing, `system:*` excepted. */
  setCluster(cluster: ClusterName, exists: boolean): void
  setBinding(cluster: ClusterName, name: string, binding: KubeObject | undefined): void
  /** Decoded when somebody binds it. */
  setSchema(uid: string, schema: SchemaItem | undefined): void
  setDefinition(cluster: ClusterName, name: string, crd: KubeObject | undefined): void
  /** The same object until something changes; one object for all clusters that serve the same. */
  of(cluster: ClusterName): ApiSet | undefined
  /** What any cluster binds under an identity. */
  identified(groupResource: string, identity: string): Served | undefined
}

export interface ClusterApisOptions {
  /** Served by every cluster. `system` kinds win over bindings, `builtin` kinds lose. */
  readonly system: readonly Served[]
  readonly builtin: readonly Served[]
  /** Resources of every cluster that are not stored: reviews. */
  readonly unstored: ApiSet['resources']
  readonly resourcesOf: ResourcesOf
  readonly ends: WatchEnds
}

interface ClusterState {
  exists: boolean
  readonly bindings: Map<string, Bound>
  readonly definitions: Map<string, Served>
  apis: ApiSet | undefined
}

const isSystem = (cluster: ClusterName): boolean => cluster.startsWith('system:')

export function createClusterApis(options: ClusterApisOptions): ClusterApis {
  const states = new Map<ClusterName, ClusterState>()
  const binders = new Map<string, Set<ClusterName>>()
  const [schemas, identities, readBound] = [createSchemas(), createIdentities(), createBoundReader()]
  const sets = createShared<ApiSet>()
  const stateOf = (cluster: ClusterName): ClusterState => {
    const known = states.get(cluster)
    if (known !== undefined) return known
    const state = { exists: false, bindings: new Map(), definitions: new Map(), apis: undefined }
    states.set(cluster, state)
    return state
  }
  const changed = (cluster: ClusterName, names: Iterable<string>): void => {
    const state = stateOf(cluster)
    state.apis = undefined
    for (const name of names) options.ends.end(cluster, name)
    if (!state.exists && state.bindings.size === 0 && state.definitions.size === 0) states.delete(cluster)
  }
  return {
    setCluster(cluster, exists) {
      stateOf(cluster).exists = exists
      changed(cluster, [])
    },
    setBinding(cluster, name, binding) {
      const { bindings } = stateOf(cluster)
      const [old, next] = [bindings.get(name), binding && readBound(binding)]
      if (old === next) return
      replace(bindings, name, next)
      if (old) identities.remove(old)
      if (next) identities.add(next)
      for (const { schema } of old?.resources ?? []) binders.get(schema.UID)?.delete(cluster)
      for (const bound of bindings.values()) rememberBinder(binders, bound, cluster)
      changed(cluster, changedNames(old, next))
    },
    setSchema(uid, schema) {
      if (schema) schemas.set(uid, schema)
      else schemas.remove(uid)
      for (const cluster of binders.get(uid) ?? []) {
        const bound = [...(states.get(cluster)?.bindings.values() ?? [])].flatMap(b => b.resources)
        changed(cluster, bound.filter(b => b.schema.UID === uid).map(boundName))
      }
    },
    setDefinition(cluster, name, crd) {
      const { definitions } = stateOf(cluster)
      const [old, next] = [
        definitions.get(name),
        crd && isEstablished(asCrd(crd)) ? crdServed(crd) : undefined,
      ]
      if (old?.id === next?.id) return
      replace(definitions, name, next)
      changed(cluster, [name])
    },
    of(cluster) {
      const state = states.get(cluster)
      if (state?.exists !== true && !isSystem(cluster)) return undefined
      if (state?.apis !== undefined) return state.apis
      const own = state === undefined ? [] : ownOf(state, schemas.served)
      const apis = sets.get(own.map(served => served.id).join('\n'), () => compose(options, own))
      if (state !== undefined) state.apis = apis
      return apis
    },
    identified(name, identity) {
      const bound = identities.any(name, identity)
      return bound && schemas.served(bound, false)
    },
  }
}

function replace<V>(map: Map<string, V>, key: string, value: V | undefined): void {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}

function rememberBinder(binders: Map<string, Set<ClusterName>>, bound: Bound, cluster: ClusterName): void {
  for (const { schema } of bound.resources) {
    const clusters = binders.get(schema.UID) ?? new Set()
    binders.set(schema.UID, clusters.add(cluster))
  }
}

/** The resources that are served differently after a binding changed. */
function changedNames(old: Bound | undefined, next: Bound | undefined): readonly string[] {
  const wordings = (bound: Bound | undefined): Map<string, string> =>
    new Map(bound?.resources.map(r => [boundName(r), JSON.stringify([r, bound.terminating])]))
  const [before, after] = [wordings(old), wordings(next)]
  return [...new Set([...before.keys(), ...after.keys()])].filter(
    name => before.get(name) !== after.get(name),
  )
}

/** Bound resources by name of their binding, then definitions whose place is free (chapter 20, section 6.1). */
function ownOf(
  { bindings, definitions }: ClusterState,
  servedOf: (bound: Bound['resources'][number], terminating: boolean) => Served | undefined,
): readonly Served[] {
  const found = new Map<string, Served>()
  const offer = (served: Served | undefined): void => {
    if (served !== undefined && !found.has(servedName(served))) found.set(servedName(served), served)
  }
  for (const name of [...bindings.keys()].sort()) {
    const bound = bindings.get(name)
    for (const resource of bound?.resources ?? []) offer(servedOf(resource, bound?.terminating === true))
  }
  for (const name of [...definitions.keys()].sort()) offer(definitions.get(name))
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, served]) => served)
}

/** System kinds win over the cluster's own, and those over built-in ones. */
export function compose(options: ClusterApisOptions, own: readonly Served[]): ApiSet {
  const found = new Map<string, Served>()
  for (const served of [...options.builtin, ...own, ...options.system]) found.set(servedName(served), served)
  const all = [...found.values()]
  const set = apiSetOf([...all.flatMap(options.resourcesOf), ...options.unstored])
  const identified = new Map(all.filter(s => s.identity !== undefined).map(s => [servedName(s), s.identity]))
  return {
    ...set,
    find(group, version, plural) {
      const colon = plural.indexOf(':')
      if (colon === -1) return set.find(group, version, plural)
      const resource = plural.slice(0, colon)
      const name = group === '' ? resource : `${resource}.${group}`
      return identified.get(name) === plural.slice(colon + 1) ? set.find(group, version, resource) : undefined
    },
  }
}
