import { isDeepStrictEqual } from 'node:util'
import type { ClusterName } from '../../framework/object.ts'
import { type LocatedType, TypesInvalid } from '../directory.ts'
import { typeAnnotation } from '../metadata.ts'
import { defaultBindingName } from '../names.ts'
import { clusterScoped, createIfMissing, updateObject } from './client.ts'
import { type ConditionState, conditionIs, isFalse, isTrue } from './conditions.ts'
import type { KcpControllerDeps } from './deps.ts'
import {
  type AcceptableClaim,
  type APIBinding,
  type APIExport,
  type LogicalCluster,
  resources,
} from './objects.ts'

/** One logical cluster whose type says what it binds. */
interface Binder {
  readonly deps: KcpControllerDeps
  readonly cluster: ClusterName
}

interface DefaultBinding {
  readonly path: string
  readonly name: string
  /** Kept as the export wants it, not only made once. */
  readonly maintained: boolean
}

export const bindingsInitialized = 'APIBindingsInitialized'
const reconciled = 'APIBindingsReconciled'

/** Makes the default bindings; True when all are bound (chapter 20, section 3.8). */
export function initializeBindings(
  deps: KcpControllerDeps,
  cluster: ClusterName,
  object: LogicalCluster,
): Promise<ConditionState> {
  return explained(bindingsInitialized, async () => {
    const binder = { deps, cluster }
    const waiting = await Promise.all(defaultsOf(binder, object).map(wanted => bindDefault(binder, wanted)))
    return progress(bindingsInitialized, waiting, 'bound')
  })
}

/** Keeps the bindings of types with lifecycle `Maintain` as they are made; undefined when there is none. */
export async function maintainBindings(
  deps: KcpControllerDeps,
  cluster: ClusterName,
  object: LogicalCluster,
): Promise<ConditionState | undefined> {
  const binder = { deps, cluster }
  const wanted = ignoringTypes(() => defaultsOf(binder, object)).filter(each => each.maintained)
  if (wanted.length === 0) return undefined
  const waiting = await Promise.all(wanted.map(each => maintain(binder, each)))
  return progress(reconciled, waiting, 'reconciled')
}

async function explained(type: string, work: () => Promise<ConditionState>): Promise<ConditionState> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof TypesInvalid)) throw error
    return isFalse(type, 'Error', 'WorkspaceTypesInvalid', error.message)
  }
}

/** A type that is gone has nothing to maintain. */
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
  const entries = chainOf(() => directory.typeChain(located)).flatMap(bindingsOf)
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

const bindingsOf = ({ cluster, type: { spec = {} } }: LocatedType): readonly DefaultBinding[] =>
  (spec.defaultAPIBindings ?? []).map(({ path, export: name }) => ({
    path: path || cluster,
    name,
    maintained: spec.defaultAPIBindingLifecycle === 'Maintain',
  }))

/** The binding to this export: the default one, or one that somebody else has made. */
function bindingTo({ deps, cluster }: Binder, { path, name }: DefaultBinding): APIBinding | undefined {
  const bindings = deps.informers.for(resources.apiBindings)
  const own = bindings.get(cluster, '', defaultBindingName(cluster, path, name))?.object
  const isTo = ({ spec }: APIBinding): boolean =>
    spec?.reference?.export?.name === name && spec.reference.export.path === path
  return (own ?? bindings.list(cluster).find(({ object }) => isTo(object as APIBinding))?.object) as
    | APIBinding
    | undefined
}

function exportOf(
  { deps: { directory }, cluster }: Binder,
  { path, name }: DefaultBinding,
): APIExport | undefined {
  const home = directory.clusterOf({ path }, cluster)
  return home === undefined ? undefined : directory.apiExport(home, name)
}

/** Makes the binding if there is none; says what is still missing. */
async function bindDefault(binder: Binder, wanted: DefaultBinding): Promise<string | undefined> {
  const known = bindingTo(binder, wanted)
  if (known !== undefined) return stillWaiting(known)
  const exported = exportOf(binder, wanted)
  if (exported === undefined) return `for APIExport ${wanted.path}|${wanted.name}`
  const { deps, cluster } = binder
  const object = bindingObject(cluster, wanted, exported)
  await createIfMissing(deps.client, resources.apiBindings, cluster, object)
  return object.metadata.name
}

/** The same, and what has drifted is put right. */
async function maintain(binder: Binder, wanted: DefaultBinding): Promise<string | undefined> {
  const { deps, cluster } = binder
  const exported = exportOf(binder, wanted)
  const name = defaultBindingName(cluster, wanted.path, wanted.name)
  if (exported !== undefined) {
    const { spec } = bindingObject(cluster, wanted, exported)
    await updateObject<APIBinding>(
      deps.client,
      resources.apiBindings,
      clusterScoped(cluster, name),
      current =>
        isDeepStrictEqual(current.spec, spec) ? current : { ...current, spec },
    )
  }
  return bindDefault(binder, wanted)
}

function stillWaiting({ metadata, spec, status }: APIBinding): string | undefined {
  const name = metadata.name ?? ''
  if (!conditionIs(status?.conditions, 'InitialBindingCompleted', 'True')) return name
  const hasClaims = (spec?.permissionClaims ?? []).some(claim => claim.state === 'Accepted')
  if (!hasClaims || conditionIs(status?.conditions, 'PermissionClaimsApplied', 'True')) return undefined
  return `${name} waiting for permission claims to be applied`
}

/** Default bindings accept all claims. */
function bindingObject(
  cluster: ClusterName,
  { path, name }: DefaultBinding,
  { spec }: APIExport,
): APIBinding & { readonly spec: object } {
  const claims = (spec?.permissionClaims ?? []).map(
    ({ defaultSelector, ...claim }): AcceptableClaim => ({
      ...claim,
      selector: defaultSelector ?? { matchAll: true },
      state: 'Accepted',
    }),
  )
  return {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: { name: defaultBindingName(cluster, path, name) },
    spec: {
      reference: { export: { path, name } },
      ...(claims.length === 0 ? {} : { permissionClaims: claims }),
    },
  }
}
