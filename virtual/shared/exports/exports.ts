import type { Awaitable } from '../../../framework/async/awaitable.ts'
import { decisionBy } from '../../../framework/contract/authorizer.ts'
import {
  type ApiResource,
  type ApiSet,
  apiSetOf,
  type Decision,
  type Host,
  type Informer,
  type Item,
  type Params,
  type RequestContext,
} from '../../../framework/index.ts'
import {
  type APIBinding,
  type APIExport,
  apisGroup,
  type ExportReference,
  pathAnnotation,
  resources,
} from '../../../kcp/index.ts'

/** The params of the view's path: the export's logical cluster, and its name. */
export type ExportParams = { readonly provider: string; readonly name: string }

export const exportOf = ({ provider, name }: ExportParams): ExportReference => ({ cluster: provider, name })

/** Exports, schemas and bindings in memory, kept up to date. */
export interface Exports {
  readonly exports: Informer
  readonly schemas: Informer
  readonly bindings: Informer
  find(params: ExportParams): APIExport | undefined
  /** By a reference; `path` is the path or the name of a logical cluster. undefined if several exports have it. */
  resolve(path: string, name: string): Item | undefined
  byIdentity(hash: string): readonly Item[]
  /** Every binding that refers to the export, in any logical cluster. */
  bindingsOf(params: ExportParams): readonly Item[]
  /** The binding to the export in one logical cluster. */
  bindingIn(cluster: string, params: ExportParams): APIBinding | undefined
  readonly synced: Promise<unknown>
}

/** Exports and schemas of all shards; bindings of this shard. */
export function watchExports({ informers, shared }: Host): Exports {
  const anywhere = shared?.informers ?? informers
  const exports = anywhere.for(resources.apiExports)
  const schemas = anywhere.for(resources.apiResourceSchemas)
  const bindings = informers.for(resources.apiBindings)
  const byReference = exports.index(referencesOf)
  const byIdentity = exports.index(identityOf)
  const byExport = bindings.index(exportsBoundBy)
  const bindingsOf = ({ provider, name }: ExportParams) => byExport(reference(provider, name))
  return {
    exports,
    schemas,
    bindings,
    find: ({ provider, name }) => exports.get(provider, '', name)?.object as APIExport | undefined,
    resolve: (path, name) => onlyOf(byReference(reference(path, name))),
    byIdentity: hash => [...byIdentity(hash)].sort(byClusterAndName),
    bindingsOf,
    // An export may have bindings in thousands of logical clusters.
    bindingIn: (cluster, params) =>
      bindings.list(cluster).find(item => isBoundTo(item, params))?.object as APIBinding | undefined,
    synced: Promise.all([exports.synced, schemas.synced, bindings.synced]),
  }
}

const onlyOf = (found: readonly Item[]): Item | undefined => (found.length === 1 ? found[0] : undefined)

const reference = (path: string, name: string): string => `${path}|${name}`

function referencesOf({ key, meta }: Item): readonly string[] {
  const path = meta.annotations[pathAnnotation]
  const byCluster = reference(key.cluster, key.name)
  return path === undefined || path === key.cluster ? [byCluster] : [byCluster, reference(path, key.name)]
}

function identityOf(item: Item): readonly string[] {
  const hash = (item.object as APIExport).status?.identityHash
  return hash ? [hash] : []
}

/**
 * The export that a binding is counted for: before its status names the logical cluster of the export, the path of its
 * reference is used.
 */
function boundExport({ key, object }: Item): Partial<ExportParams> {
  const { spec, status } = object as APIBinding
  const { name, path } = spec?.reference?.export ?? {}
  return {
    provider: status?.apiExportClusterName || path || key.cluster,
    ...(name !== undefined && { name }),
  }
}

function isBoundTo(item: Item, { provider, name }: ExportParams): boolean {
  const bound = boundExport(item)
  return bound.name === name && bound.provider === provider
}

function exportsBoundBy(item: Item): readonly string[] {
  const { provider = '', name } = boundExport(item)
  return name === undefined ? [] : [reference(provider, name)]
}

const byClusterAndName = (a: Item, b: Item): number =>
  reference(a.key.cluster, a.key.name) < reference(b.key.cluster, b.key.name) ? -1 : 1

/** Checks a verb, that of the request, on `apiexports/content` of the export, in the logical cluster of the export. */
export function mayUseContent(
  { backend }: Host,
  ctx: Pick<RequestContext, 'user' | 'info' | 'signal'>,
  { provider, name }: ExportParams,
  verb: string = ctx.info.verb,
): Awaitable<Decision> {
  const exports = { group: apisGroup, version: 'v1alpha1', resource: 'apiexports' }
  const resource = { ...exports, subresource: 'content', namespace: '', name }
  const action = { verb, cluster: provider, resource }
  return decisionBy(backend.authorizer, { user: ctx.user, action }, ctx)
}

/** The resources for some params, a text that changes with them, and what they are made of: any keys. */
export interface Plan<P extends Params> {
  readonly version: string
  readonly dependsOn: readonly string[]
  resources(): readonly ApiResource<P>[]
}

/** What sets are made of: an object of some kind. */
export const dependencyOn = (
  kind: string,
  { cluster, name }: { readonly cluster: string; readonly name: string },
): string => `${kind}|${cluster}|${name}`

interface Kept<P extends Params> {
  readonly params: P
  readonly version: string
  readonly dependsOn: ReadonlySet<string>
  readonly set: ApiSet<P>
  readonly replaced: AbortController
}

/** A cache of ApiSets by params: the same object is returned until its resources change. */
export class KeptApis<P extends Params> {
  readonly #kept = new Map<string, Kept<P>>()
  /** The keys of the kept sets by what they depend on. */
  readonly #dependents = new Map<string, Set<string>>()
  readonly #plan: (params: P) => Plan<P> | undefined
  readonly #replaced: (params: P) => void

  /** `replaced` is called when a set has been dropped. */
  constructor(plan: (params: P) => Plan<P> | undefined, replaced: (params: P) => void = () => undefined) {
    this.#plan = plan
    this.#replaced = replaced
  }

  readonly of = (params: P): ApiSet<P> | undefined => {
    const key = Object.values(params).join('/')
    return (this.#kept.get(key) ?? this.#make(key, params))?.set
  }

  #make(key: string, params: P): Kept<P> | undefined {
    const plan = this.#plan(params)
    if (plan === undefined) return undefined
    const replaced = new AbortController()
    const set = apiSetOf(plan.resources(), replaced.signal)
    return this.#keep(key, { params, ...plan, dependsOn: new Set(plan.dependsOn), set, replaced })
  }

  #keep(key: string, kept: Kept<P>): Kept<P> {
    this.#kept.set(key, kept)
    for (const dependency of kept.dependsOn) {
      const dependents = this.#dependents.get(dependency) ?? new Set()
      this.#dependents.set(dependency, dependents.add(key))
    }
    return kept
  }

  #remove(key: string, { dependsOn }: Kept<P>): void {
    this.#kept.delete(key)
    for (const dependency of dependsOn) {
      const dependents = this.#dependents.get(dependency)
      dependents?.delete(key)
      if (dependents?.size === 0) this.#dependents.delete(dependency)
    }
  }

  /** Drops the sets that depend on one of these and have changed, and ends their watches; the next request makes them again. */
  refresh(changed: readonly string[]): void {
    const keys = new Set(changed.flatMap(dependency => [...(this.#dependents.get(dependency) ?? [])]))
    for (const key of keys) {
      const kept = this.#kept.get(key)
      if (kept !== undefined) this.#check(key, kept)
    }
  }

  #check(key: string, kept: Kept<P>): void {
    const plan = this.#plan(kept.params)
    this.#remove(key, kept)
    if (plan?.version === kept.version) {
      this.#keep(key, { ...kept, dependsOn: new Set(plan.dependsOn) })
      return
    }
    kept.replaced.abort()
    this.#replaced(kept.params)
  }
}
