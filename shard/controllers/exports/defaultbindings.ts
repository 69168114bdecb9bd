import { isDeepStrictEqual } from 'node:util'
import type { ClusterName } from '../../../framework/meta/object.ts'
import { bindingFinalizer, pathAnnotation, typeAnnotation } from '../../../kcp/annotations.ts'
import type { APIBinding, APIExport } from '../../../kcp/apis.ts'
import type { AcceptablePermissionClaim } from '../../../kcp/claims.ts'
import { type ConditionState, conditionIs, isFalse, isTrue } from '../../../kcp/conditions.ts'
import type { LogicalCluster } from '../../../kcp/core.ts'
import { exportHash, exportLabel } from '../../../kcp/labels.ts'
import { defaultBindingName } from '../../../kcp/names.ts'
import { resources } from '../../../kcp/resources.ts'
import { type Holder, holderOf } from '../../bindings/holders.ts'
import { creationOf } from '../../manifests/apply.ts'
import type { Manifest } from '../../manifests/manifest.ts'
import type { StoreChange } from '../../store/store.ts'
import { admittedBy } from '../../tenancy/admittedtypes.ts'
import { defaultHomes } from '../../tenancy/defaultexports.ts'
import { type LocatedType, TypesInvalid } from '../../tenancy/typechain.ts'
import { type BindingPlace, dependenciesOf } from '../bindingdependencies.ts'
import { clusterScoped, updateObject } from '../client.ts'
import type { KcpControllerDeps } from '../host.ts'
import { bindingStatus } from './bindingstatus.ts'
import { keepSchemas } from './boundschemas.ts'

/** A logical cluster and the default bindings of its type. */
interface Binder {
  readonly deps: KcpControllerDeps
  readonly cluster: ClusterName
  readonly path: string
}

const binderOf = (deps: KcpControllerDeps, cluster: ClusterName, { metadata }: LogicalCluster): Binder => ({
  deps,
  cluster,
  path: metadata.annotations?.[pathAnnotation] ?? cluster,
})

interface DefaultBinding {
  readonly path: string
  readonly name: string
  /** The lifecycle `Maintain`: changes of the export are applied to the binding. */
  readonly maintained: boolean
  /** Whether the export of the default binding is in this logical cluster. */
  readonly isIn: (home: ClusterName) => boolean
}

export const bindingsInitialized = 'APIBindingsInitialized'
const reconciled = 'APIBindingsReconciled'

/**
 * The condition of the default bindings, True when all are bound; and the bindings to create (kcp
 * `initialization/apibinder_initializer_reconcile.go`).
 */
export interface Defaults {
  readonly condition: ConditionState
  readonly missing: readonly DefaultManifest[]
}

export interface DefaultManifest extends Manifest {
  readonly object: APIBinding
  readonly exported: NonNullable<BindingPlace['exported']>
}

/** Stores new bindings after other changes in one commit, then releases the resources that were locked for them. */
export async function storeDefaults(
  deps: KcpControllerDeps,
  missing: readonly DefaultManifest[],
  more: readonly StoreChange[] = [],
): Promise<void> {
  try {
    for (const { exported } of missing) await keepSchemas(deps, exported)
    await deps.content.commit([...more, ...missing.map(creationOf)])
  } finally {
    releaseDefaults(deps, missing)
  }
}

/** Releases the resources that were locked for new bindings. */
export function releaseDefaults({ locks }: KcpControllerDeps, missing: readonly DefaultManifest[]): void {
  for (const { cluster, object } of missing) locks.release(cluster, object.metadata.name ?? '')
}

export function defaultBindings(
  deps: KcpControllerDeps,
  cluster: ClusterName,
  object: LogicalCluster,
): Defaults {
  const binder = binderOf(deps, cluster, object)
  try {
    const waiting: (string | undefined)[] = []
    const missing: DefaultManifest[] = []
    for (const wanted of defaultsOf(binder, object)) {
      const found = bindDefault(binder, wanted, missing)
      waiting.push(found.waiting)
      if (found.missing !== undefined) missing.push(found.missing)
    }
    return { condition: progress(bindingsInitialized, waiting, 'bound'), missing }
  } catch (error) {
    if (!(error instanceof TypesInvalid)) throw error
    const condition = isFalse(bindingsInitialized, 'Error', 'WorkspaceTypesInvalid', error.message)
    return { condition, missing: [] }
  }
}

/** Applies changes of exports to the bindings with the lifecycle `Maintain`; undefined when there is none. */
export async function maintainBindings(
  deps: KcpControllerDeps,
  cluster: ClusterName,
  object: LogicalCluster,
): Promise<ConditionState | undefined> {
  const binder = binderOf(deps, cluster, object)
  const wanted = ignoringTypes(() => defaultsOf(binder, object)).filter(each => each.maintained)
  if (wanted.length === 0) return undefined
  const waiting = await Promise.all(wanted.map(each => maintain(binder, each)))
  return progress(reconciled, waiting, 'reconciled')
}

/** A missing type has no bindings to maintain. */
function ignoringTypes(read: () => readonly DefaultBinding[]): readonly DefaultBinding[] {
  try {
    return read()
  } catch (error) {
    if (error instanceof TypesInvalid) return []
    throw error
  }
}

function progress(type: string, waiting: readonly (string | undefined)[], done: string): ConditionState {
  const messages = waiting.flatMap(message => message ?? []).toSorted()
  if (messages.length === 0) return isTrue(type)
  const text = `APIBinding(s) not yet fully ${done}: ${messages.join(', ')}`
  return isFalse(type, 'Info', 'WaitingOnAPIBindings', text)
}

/** The exports that the cluster's type and its bases bind. Throws `TypesInvalid`. */
function defaultsOf(
  { deps: { directory }, cluster }: Binder,
  { metadata }: LogicalCluster,
): readonly DefaultBinding[] {
  const id = metadata.annotations?.[typeAnnotation] ?? ''
  const colon = id.lastIndexOf(':')
  const [path, name] = [id.slice(0, Math.max(colon, 0)), id.slice(colon + 1)]
  const located = directory.workspaceType({ path, name }, cluster)
  if (located === undefined) throw new TypesInvalid(`error getting WorkspaceType ${path}|${name}: not found`)
  const isAdmitted = admittedBy(metadata.annotations)
  if (!isAdmitted(located))
    throw new TypesInvalid(`WorkspaceType ${path}|${name} is not the one that the workspace was created with`)
  const chain = chainOf(() => directory.typeChain(located))
  const entries = chain.filter(isAdmitted).flatMap(bindingsOf)
  return [...new Map(entries.map(entry => [`${entry.path}|${entry.name}`, entry])).values()]
}

function chainOf(read: () => readonly LocatedType[]): readonly LocatedType[] {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof TypesInvalid)) throw error
    throw new TypesInvalid(`error resolving transitive set of workspace types: ${error.message}`)
  }
}

function bindingsOf({ cluster, type }: LocatedType): readonly DefaultBinding[] {
  const isHome = defaultHomes(type)
  return (type.spec?.defaultAPIBindings ?? []).map(binding => ({
    path: binding.path || cluster,
    name: binding.export,
    maintained: type.spec?.defaultAPIBindingLifecycle === 'Maintain',
    isIn: home => isHome(binding, home),
  }))
}

/** The binding to this export: the default one, or one that a user created. */
function bindingTo({ deps, cluster }: Binder, { path, name }: DefaultBinding): APIBinding | undefined {
  const bindings = deps.informers.for(resources.apiBindings)
  const own = bindings.get(cluster, '', defaultBindingName(cluster, path, name))?.object
  const isTo = ({ exported }: Holder): boolean => exported?.name === name && exported.path === path
  const found = own ?? bindings.list(cluster).find(item => isTo(holderOf(item)))?.object
  return found as APIBinding | undefined
}

interface LocatedExport {
  readonly home: ClusterName
  readonly object: APIExport
}

/**
 * The one whose permission was checked when the type was written: a workspace of its path may become a link to another one later, or be
 * made again by another tenant.
 */
function exportOf(
  { deps: { directory }, cluster }: Binder,
  { path, name, isIn }: DefaultBinding,
): LocatedExport | undefined {
  const home = directory.referencedCluster({ path }, cluster)
  if (home === undefined || !isIn(home)) return undefined
  if (path && path !== home && path !== directory.path(home)) return undefined
  const object = directory.apiExport(home, name)
  return object && { home, object }
}

/** The problem of a default binding, and the binding to create when there is none. */
interface Found {
  readonly waiting: string | undefined
  readonly missing?: DefaultManifest
}

/** A new binding is stored with its status, mostly `Bound`, which saves the reconciliation. */
function bindDefault(binder: Binder, wanted: DefaultBinding, siblings: readonly DefaultManifest[]): Found {
  const { deps, cluster } = binder
  const known = bindingTo(binder, wanted)
  if (known !== undefined) return { waiting: stillWaiting(known) }
  const located = exportOf(binder, wanted)
  if (located === undefined) return { waiting: missingExport(binder, wanted) }
  const object = bindingObject(binder, wanted, located)
  const exported = { cluster: located.home, object: located.object }
  const place = { cluster, exported, siblings: siblings.map(sibling => sibling.object) }
  const bound = { ...object, status: bindingStatus(object, dependenciesOf(deps, object, place)) }
  return {
    waiting: stillWaiting(bound),
    missing: { cluster, resource: resources.apiBindings, object: bound, exported },
  }
}

function missingExport(
  { deps: { directory }, cluster }: Binder,
  { path, name, isIn }: DefaultBinding,
): string {
  const home = directory.referencedCluster({ path }, cluster)
  const text = `for APIExport ${path}|${name}`
  if (home === undefined || isIn(home)) return text
  return `${text}: its path leads to another workspace than when the default binding was added to the WorkspaceType; add it again`
}

/** Also resets the spec to that of the export. */
async function maintain(binder: Binder, wanted: DefaultBinding): Promise<string | undefined> {
  const { deps, cluster } = binder
  const exported = exportOf(binder, wanted)
  const name = defaultBindingName(cluster, wanted.path, wanted.name)
  if (exported !== undefined) {
    const { spec } = bindingObject(binder, wanted, exported)
    await updateObject<APIBinding>(
      deps.client,
      resources.apiBindings,
      clusterScoped(cluster, name),
      current => (isDeepStrictEqual(current.spec, spec) ? current : { ...current, spec }),
    )
  }
  const { waiting, missing } = bindDefault(binder, wanted, [])
  if (missing !== undefined) await storeDefaults(deps, [missing])
  return waiting
}

function stillWaiting({ metadata, spec, status }: APIBinding): string | undefined {
  const name = metadata.name ?? ''
  if (!conditionIs(status?.conditions, 'InitialBindingCompleted', 'True')) return name
  const hasClaims = (spec?.permissionClaims ?? []).some(claim => claim.state === 'Accepted')
  if (!hasClaims || conditionIs(status?.conditions, 'PermissionClaimsApplied', 'True')) return undefined
  return `${name} waiting for permission claims to be applied`
}

/** The binding with the defaults of admission. Default bindings accept all claims. */
function bindingObject(
  binder: Binder,
  { path, name }: DefaultBinding,
  { home, object }: LocatedExport,
): APIBinding & { readonly spec: object } {
  const claims = (object.spec?.permissionClaims ?? []).map(
    ({ defaultSelector, ...claim }): AcceptablePermissionClaim => ({
      ...claim,
      selector: defaultSelector ?? { matchAll: true },
      state: 'Accepted',
    }),
  )
  return {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: {
      name: defaultBindingName(binder.cluster, path, name),
      annotations: { [pathAnnotation]: binder.path },
      labels: { [exportLabel]: exportHash({ cluster: home, name }) },
      finalizers: [bindingFinalizer],
    },
    spec: {
      reference: { export: { path, name } },
      ...(claims.length === 0 ? {} : { permissionClaims: claims }),
    },
  }
}
