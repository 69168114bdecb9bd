import type { ClusterName, KubeObject } from '../../framework/object.ts'
import type { LocatedType } from '../directory.ts'
import { typeAnnotation } from '../metadata.ts'
import { defaultBindingName } from '../names.ts'
import { createIfMissing } from './client.ts'
import { type ConditionState, conditionIs, isFalse } from './conditions.ts'
import type { KcpControllerDeps } from './deps.ts'
import { bindingsInitializer } from './logicalclustercreation.ts'
import {
  type AcceptableClaim,
  type APIBinding,
  type APIExport,
  type LogicalCluster,
  resources,
} from './objects.ts'

/** What the server's own initializers got done. */
export interface Initialization {
  /** Identifiers of initializers that are through. */
  readonly finished: readonly string[]
  readonly conditions: readonly ConditionState[]
}

export type Initialize = (cluster: ClusterName, object: LogicalCluster) => Promise<Initialization>

const universal = 'root:universal'
const universalNamespaces = ['default', 'kube-system']

/** The initializers that are built in: `root:universal` and `system:apibindings` (chapter 20, section 3.8). */
export const createInitializers =
  (deps: KcpControllerDeps): Initialize =>
  async (cluster, object) => {
    const wanted = object.status?.initializers ?? object.spec?.initializers ?? []
    const finished: string[] = []
    if (wanted.includes(universal)) {
      await Promise.all(universalNamespaces.map(name => createNamespace(deps, cluster, name)))
      finished.push(universal)
    }
    if (!wanted.includes(bindingsInitializer)) return { finished, conditions: [] }
    const state = await bindDefaults(deps, cluster, object)
    if (state === undefined) finished.push(bindingsInitializer)
    return { finished, conditions: state === undefined ? [] : [state] }
  }

async function createNamespace(
  { client, informers }: KcpControllerDeps,
  cluster: ClusterName,
  name: string,
): Promise<void> {
  if (informers.for(resources.namespaces).get(cluster, '', name) !== undefined) return
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
  await createIfMissing(client, resources.namespaces, cluster, namespace)
}

const type = 'APIBindingsInitialized'

/** undefined when all default bindings are bound. */
async function bindDefaults(
  deps: KcpControllerDeps,
  cluster: ClusterName,
  object: LogicalCluster,
): Promise<ConditionState | undefined> {
  const defaults = defaultsOf(deps, cluster, object)
  if (!Array.isArray(defaults)) return isFalse(type, 'Error', 'WorkspaceTypesInvalid', String(defaults))
  const waiting = await Promise.all(
    defaults.map((wanted: DefaultBinding) => bindDefault(deps, cluster, wanted)),
  )
  const messages = waiting.flatMap(message => message ?? []).toSorted()
  if (messages.length === 0) return undefined
  const text = `APIBinding(s) not yet fully bound: ${messages.join(', ')}`
  return isFalse(type, 'Info', 'WaitingOnAPIBindings', text)
}

interface DefaultBinding {
  readonly path: string
  readonly name: string
}

/** The exports that the cluster's type and its bases bind; what is wrong with the types when they cannot be read. */
function defaultsOf(
  { directory }: KcpControllerDeps,
  cluster: ClusterName,
  { metadata }: LogicalCluster,
): readonly DefaultBinding[] | string {
  const id = metadata.annotations?.[typeAnnotation] ?? ''
  const colon = id.lastIndexOf(':')
  const [path, name] = [id.slice(0, Math.max(colon, 0)), id.slice(colon + 1)]
  const located = directory.workspaceType({ path, name }, cluster)
  if (located === undefined) return `error getting WorkspaceType ${path}|${name}: not found`
  const entries = directory.typeChain(located).flatMap(bindingsOf)
  return [...new Map(entries.map(entry => [`${entry.path}|${entry.name}`, entry])).values()]
}

const bindingsOf = ({ cluster, type }: LocatedType): readonly DefaultBinding[] =>
  (type.spec?.defaultAPIBindings ?? []).map(({ path, export: name }) => ({ path: path || cluster, name }))

/** Makes the binding if there is none; says what is still missing. */
async function bindDefault(
  { client, directory, informers }: KcpControllerDeps,
  cluster: ClusterName,
  { path, name }: DefaultBinding,
): Promise<string | undefined> {
  const binding = defaultBindingName(cluster, path, name)
  const known = informers.for(resources.apiBindings).get(cluster, '', binding)?.object
  if (known !== undefined) return stillWaiting(known as APIBinding)
  const home = directory.clusterOf({ path }, cluster)
  const exported = home && directory.apiExport(home, name)
  if (!exported) return `for APIExport ${path}|${name}`
  const object = bindingObject(binding, { path, name }, exported)
  await createIfMissing(client, resources.apiBindings, cluster, object)
  return binding
}

function stillWaiting({ metadata, spec, status }: APIBinding): string | undefined {
  const name = metadata.name ?? ''
  if (!conditionIs(status?.conditions, 'InitialBindingCompleted', 'True')) return name
  const hasClaims = (spec?.permissionClaims ?? []).some(claim => claim.state === 'Accepted')
  if (!hasClaims || conditionIs(status?.conditions, 'PermissionClaimsApplied', 'True')) return undefined
  return `${name} waiting for permission claims to be applied`
}

/** Default bindings accept all claims. */
function bindingObject(name: string, reference: DefaultBinding, { spec }: APIExport): KubeObject {
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
    metadata: { name },
    spec: {
      reference: { export: reference },
      ...(claims.length === 0 ? {} : { permissionClaims: claims }),
    },
  }
}
