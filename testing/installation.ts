import { authorizationParts } from '../cmd/authorization/authorization.ts'
import { clustersView } from '../cmd/views/clustersview.ts'
import { factoriesOf } from '../cmd/views/factories.ts'
import { bearerTokens } from '../framework/authn/index.ts'
import { resourceOfKind } from '../framework/contract/apis.ts'
import type { Item } from '../framework/contract/item.ts'
import { type Logger, silent } from '../framework/contract/log.ts'
import { loopbackContext } from '../framework/contract/loopback.ts'
import { versionInfo } from '../framework/contract/version.ts'
import type { WorkspaceFactory } from '../framework/contract/workspace.ts'
import type { KubeObject } from '../framework/meta/object.ts'
import { createMetrics } from '../framework/metrics/metrics.ts'
import type { ViewPlugin } from '../framework/plugin.ts'
import { createPluginMeters } from '../framework/plugins/meters.ts'
import { definedAt } from '../framework/plugins/position.ts'
import { supervisedFactories } from '../framework/plugins/supervise.ts'
import { onlyUrl } from '../framework/publishing/publisher.ts'
import type { UserInfo } from '../framework/request/user.ts'
import { openPort } from '../framework/server/listener.ts'
import { checkViews } from '../framework/server/routes.ts'
import { type Server, serveOn } from '../framework/server/server.ts'
import { resources } from '../kcp/resources.ts'
import { createOpenApiDocuments } from '../openapi/index.ts'
import { openShard, type Shard } from '../shard/index.ts'
import { openMemoryStore } from '../shard/store/memory.ts'
import { TestUser, userOfToken } from './user.ts'

/** The options of an installation. */
export interface InstallationOptions {
  /** The plugins whose views are served. */
  readonly plugins: readonly ViewPlugin[]
  /** The second argument of the plugins. */
  readonly options?: Readonly<Record<string, unknown>>
}

/** A server in this process, with logical clusters in memory and the views of plugins. */
export interface Installation {
  /** `http://127.0.0.1:<port>`, for other clients. */
  readonly url: string
  /** What the server has logged about failures of the views, with file and line. */
  readonly failures: readonly string[]
  /** Creates a logical cluster with a namespace `default`, if there is none of this name, and objects in it. */
  cluster(name: string, ...objects: readonly KubeObject[]): Promise<void>
  /** A client of a user, who is also in `system:authenticated`. */
  as(user: string | UserInfo): TestUser
  /** Ends the server. */
  close(): Promise<void>
}

/**
 * Starts an installation in milliseconds. Requests, authorization by RBAC objects, admission and watches are those of
 * `oriel start`; controllers do not run. The objects of CustomResourceDefinitions are served.
 *
 * ```ts
 * const oriel = await startInstallation({ plugins: [team] })
 * await oriel.cluster('one', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels: { team: 'ops' } } })
 * const ada = oriel.as({ name: 'ada', groups: ['team:ops'] })
 * const found = await ada.list('/services/team/ops/clusters/one/api/v1/configmaps')
 * await oriel.close()
 * ```
 */
export async function startInstallation({
  plugins,
  options = {},
}: InstallationOptions): Promise<Installation> {
  const factories = plugins.flatMap((plugin, i) => supervised(plugin, options, `plugins[${i}]`))
  const stop = new AbortController()
  const failures: string[] = []
  const log = failureLog(failures)
  const store = openMemoryStore()
  const authorization = authorizationParts()
  const shard = await openShard({
    store,
    log: silent,
    signal: stop.signal,
    authorizer: authorization.authorizer,
    reviews: authorizer => authorization.reviews(authorizer),
    admission: host => [authorization.admission(host.backend.authorizer)],
  })
  const server = await serve(shard, factories, log)
  const names = new Set<string>()
  const write = (object: KubeObject, cluster: string) => createIn(shard, object, cluster, stop.signal)
  return {
    url: server.url,
    failures,
    as: user => new TestUser(server.url, typeof user === 'string' ? { name: user, groups: [] } : user),
    async cluster(name, ...objects) {
      if (!names.has(name)) await createCluster(shard, name, stop.signal)
      if (!names.has(name)) await write(namespace, name)
      names.add(name)
      for (const object of objects) await write(object, name)
    },
    async close() {
      await server.close(0)
      stop.abort()
      shard.close()
      await store.close()
    },
  }
}

const logicalCluster: KubeObject = {
  apiVersion: 'core.kcp.io/v1alpha1',
  kind: 'LogicalCluster',
  metadata: { name: 'cluster' },
  spec: {},
}
const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }

const keyOf = ({ metadata }: KubeObject, cluster: string, inNamespace = metadata.namespace ?? '') => ({
  cluster,
  namespace: inNamespace,
  name: metadata.name ?? '',
})

/** Creates a logical cluster that is ready. */
async function createCluster({ client, backend }: Shard, name: string, signal: AbortSignal): Promise<void> {
  const key = keyOf(logicalCluster, name)
  await client.create(resources.logicalClusters, key, logicalCluster)
  const ref = { ...resources.logicalClusters, subresource: 'status' }
  const ctx = loopbackContext({ verb: 'update', resource: ref, cluster: name, signal, log: silent })
  const ready = ({ object }: Item): KubeObject => ({ ...object, status: { phase: 'Ready' } })
  await backend.storage(ref).update(ctx, key, ready, written)
}

/** Creates an object of a served kind. Namespaced objects without a namespace are in `default`. */
async function createIn(
  shard: Shard,
  object: KubeObject,
  cluster: string,
  signal: AbortSignal,
): Promise<void> {
  const resource = resourceOfKind(shard.backend.apis(cluster), object)
  if (resource === undefined)
    throw new Error(`the logical cluster ${cluster} has no kind ${object.kind} in ${object.apiVersion}`)
  const key = keyOf(object, cluster, resource.namespaced ? (object.metadata.namespace ?? 'default') : '')
  const { group, version, names } = resource
  const ref = { group, version, resource: names.plural }
  const ctx = loopbackContext({ verb: 'create', resource: ref, cluster, signal, log: silent })
  const placed = resource.namespaced
    ? { ...object, metadata: { ...object.metadata, namespace: key.namespace } }
    : object
  await resource.storage.create(ctx, key, placed, written)
  const status = resource.subresources.find(each => each.name === 'status')
  if (object.kind === 'CustomResourceDefinition')
    await status?.storage.update(ctx, key, ({ object: created }) => established(created), written)
}

const written = { dryRun: false, fieldManager: 'test' } as const

/** The definition with the status that the controllers of a server write: its objects are served. */
function established(definition: KubeObject): KubeObject {
  const { names, versions } = definition.spec as {
    readonly names: object
    readonly versions: readonly { readonly name: string; readonly storage: boolean }[]
  }
  const conditions = ['NamesAccepted', 'Established'].map(type => ({
    type,
    status: 'True',
    reason: 'Testing',
  }))
  const storedVersions = versions.filter(({ storage }) => storage).map(({ name }) => name)
  return { ...definition, status: { acceptedNames: names, conditions, storedVersions } }
}

/** The views of a plugin. Throws an `Error` that names the member of `plugins`, or the line. */
function supervised(
  plugin: ViewPlugin,
  options: Readonly<Record<string, unknown>>,
  member: string,
): readonly WorkspaceFactory[] {
  const factories = factoriesOf(plugin, options, member)
  const file = (definedAt(plugin) ?? '').replace(/:\d+:\d+$/, '')
  const supervision = {
    supervisors: new Map(),
    isOurs: () => false,
    meters: createPluginMeters(createMetrics()),
  }
  return supervisedFactories({ origin: { name: file, file }, factories }, supervision)
}

const failureLog = (failures: string[]): Logger => {
  const note = (fields: object, message: string): void => {
    const { at, error = '' } = fields as { readonly at?: string; readonly error?: string }
    failures.push(`${at === undefined ? '' : `${at}: `}${message}${error === '' ? '' : `\n${error}`}`)
  }
  const log: Logger = { ...silent, warn: note, error: note, child: () => log }
  return log
}

async function serve(shard: Shard, factories: readonly WorkspaceFactory[], log: Logger): Promise<Server> {
  const host = { ...shard, log }
  const workspaces = [...factories, clustersView].map(factory => factory(host))
  checkViews(workspaces)
  const port = await openPort({ host: '127.0.0.1', port: 0 })
  const version = versionInfo({ version: '0.1.0', commit: '', date: '' })
  return serveOn(port, {
    workspaces,
    log,
    version,
    backend: shard.backend,
    informers: shard.informers,
    authenticator: bearerTokens(userOfToken),
    documents: createOpenApiDocuments(version),
    metrics: createMetrics(),
    checks: [],
    viewUrls: onlyUrl(port.url),
  })
}
