import { audience, prepareAuthentication } from '../../cmd/authentication/authentication.ts'
import { issueAuthority, issueServing } from '../../cmd/certificates/certificates.ts'
import { newServiceAccountKey } from '../../cmd/certificates/serviceaccountkey.ts'
import { openStore } from '../../cmd/files/store.ts'
import { openEmbedded } from '../../cmd/start/shard.ts'
import { prepareSharding } from '../../cmd/start/sharding.ts'
import { clustersView } from '../../cmd/views/clustersview.ts'
import { bearerTokens, sha256, signingKeys, tokenUsers } from '../../framework/authn/index.ts'
import { createLogger } from '../../framework/contract/log.ts'
import { versionInfo } from '../../framework/contract/version.ts'
import { createMetrics } from '../../framework/metrics/metrics.ts'
import { createServer } from '../../framework/server/server.ts'
import { createOpenApiDocuments } from '../../openapi/index.ts'
import { workspaces } from '../../virtual/index.ts'
import { childOptions, serveTasks } from '../tools/child.ts'
import { type Address, attackerToken, peerToken, userToken } from '../tools/connection.ts'
import { memory } from '../tools/memory.ts'
import { fill, makeTenants, makeWorkspaces, type Tenants, workspacesRef } from '../tools/tenants.ts'
import { churn } from './churn.ts'
import { followLives, forget } from './lives.ts'
import { relabeling } from './relabeling.ts'
import { type Settling, settled } from './settled.ts'

/** The measured system in a separate process: the same as `oriel start`, over plain HTTP by default. */
export interface ServeOptions {
  /** `memory:` or a directory. */
  readonly store: string
  readonly tls?: boolean
}

const { store: where, tls: overTls = false } = childOptions<ServeOptions>()
const log = createLogger('warn')
const stopping = new AbortController()
const { signal } = stopping

function certificates() {
  const authority = issueAuthority()
  const serving = issueServing(authority, ['127.0.0.1', 'localhost'])
  return { ca: authority.certificate, tls: { cert: serving.certificate, key: serving.key } }
}

const store = await openStore(where)
const url = 'https://127.0.0.1:6443'
const keys = signingKeys(newServiceAccountKey())
const authentication = await prepareAuthentication({}, [], { keys, issuer: audience })
const sharding = await prepareSharding({ shardName: 'root' }, url, { log, signal })
const shard = await openEmbedded({
  store,
  sharding,
  rootCA: '',
  authentication,
  log,
  signal,
})
const user = { name: 'bench', groups: ['system:kcp:admin'] }
const peer = { name: 'peer', groups: ['system:masters'] }
const version = versionInfo({ version: '0', commit: '', date: '' })
const made = overTls ? certificates() : undefined

const server = await createServer({
  host: '127.0.0.1',
  port: 0,
  ...(made && { tls: made.tls }),
  workspaces: [...workspaces, relabeling, clustersView].map(factory => factory(shard)),
  backend: shard.backend,
  informers: shard.informers,
  authenticator: bearerTokens(
    tokenUsers([
      { sha256: sha256(userToken), user },
      { sha256: sha256(peerToken), user: peer },
      { sha256: sha256(attackerToken), user: { ...user, name: 'attacker' } },
    ]),
  ),
  documents: createOpenApiDocuments(version),
  version,
  log,
  metrics: createMetrics(),
  checks: [],
})
const controllers = shard.run()
const lives = followLives(shard)

const tasks = {
  address: (): Address => ({ port: server.port, ...(made && { ca: made.ca }) }),
  tenants: (count: number) => makeTenants(shard, count),
  workspaces: (names: readonly string[]) => makeWorkspaces(shard, names),
  /** Begins to delete a workspace of root. */
  remove: (name: string) =>
    shard.client.delete(workspacesRef(shard), { cluster: 'root', namespace: '', name }),
  /** The time at which a path started or stopped to resolve to a logical cluster. */
  settled: (path: Settling) => settled(shard, path),
  fill: ({ tenants, count }: { tenants: Tenants; count: number }) => fill(shard, tenants, count),
  whenReady: (name: string) => lives.ready(name),
  count: () => lives.count(),
  gone: () => lives.gone(),
  forget: () => forget(shard),
  churn: (options: Parameters<typeof churn>[1]) => churn(shard, options),
  memory: () => memory(),
  /** Timers, sockets and other resources of the event loop. */
  resources: () => process.getActiveResourcesInfo().length,
  /** Compacts the history, as the store does after some minutes. */
  compact: () => store.compact(store.revision),
  cpu: () => process.cpuUsage(),
}

/** The tasks of this process. */
export type OrielTasks = typeof tasks

serveTasks(tasks, async () => {
  stopping.abort()
  await server.close(0)
  await controllers
  shard.close()
  await store.close()
})
