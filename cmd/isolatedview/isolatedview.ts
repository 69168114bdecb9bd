import { setMaxListeners } from 'node:events'
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { createLogger, type Logger } from '../../framework/contract/log.ts'
import { versionInfo } from '../../framework/contract/version.ts'
import type { VirtualWorkspace } from '../../framework/contract/workspace.ts'
import { createMetrics } from '../../framework/metrics/metrics.ts'
import { createServer } from '../../framework/server/server.ts'
import { createOpenApiDocuments } from '../../openapi/index.ts'
import { type RemoteShard, remoteShard } from '../../remote/backend.ts'
import { build } from '../files/build.ts'
import { type Announcement, announcementFd, type IsolatedConfig } from '../isolation/messages.ts'
import { isPrivateHeader, privateAuthenticator } from '../isolation/privateheaders.ts'
import { stopSignal } from '../process/shutdown.ts'
import { supervise } from '../views/supervision.ts'
import { loadListed, viewsOver } from '../views/viewplugins.ts'
import { decisions } from './decisions.ts'
import { endWithParent } from './parent.ts'
import { connectionsTo } from './shard.ts'
import { ChangingUrls } from './urls.ts'

/** Milliseconds that requests in progress may take to end after SIGTERM. */
const grace = 1_000

/**
 * `oriel isolated-view`, which a server starts for a plugin with `isolate: true`: reads its configuration from stdin, announces the
 * views of the plugin, and serves them on a Unix socket until SIGTERM, or until stdin ends.
 */
export async function serveIsolated(): Promise<void> {
  endWithParent(process.ppid)
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  const next = async <T>(): Promise<T | undefined> => {
    const { value, done } = await lines.next()
    return done ? undefined : (JSON.parse(value) as T)
  }
  const config = await next<IsolatedConfig>()
  if (config === undefined) process.exit(1)
  const log = createLogger(config.logLevel)
  const stopping = new AbortController()
  // Every informer adds a listener.
  setMaxListeners(0, stopping.signal)
  const urls = new ChangingUrls(next)
  const made = await viewsOf(config, { urls, log, signal: stopping.signal })
  await urls.known
  const server = await serve(config, log, { ...made, urls })
  await stopSignal()
  await server.close(grace)
  process.exit(0)
}

interface Making {
  readonly urls: ChangingUrls
  readonly log: Logger
  /** Ends the connections. */
  readonly signal: AbortSignal
}

interface Made {
  readonly shard: RemoteShard
  readonly views: readonly VirtualWorkspace[]
}

/** Loads the plugin, makes its views, and announces them or the mistake. */
async function viewsOf(config: IsolatedConfig, { urls, log, signal }: Making): Promise<Made> {
  try {
    const loaded = await loadListed({ view: config.view, options: config.options }, { fresh: config.fresh })
    const shard = remoteShard({ ...(await connectionsTo(config.shard, log, signal)), log, signal })
    const factories = supervise([loaded], { log, metrics: createMetrics(), watch: false, viewUrls: urls })
    const views = viewsOver(factories, { ...shard, log })
    announce({ views: views.map(({ name, path }) => ({ name, pattern: path.pattern })), files: loaded.files })
    return { shard, views }
  } catch (error) {
    announce({ error: (error as Error).message })
    process.exit(1)
  }
}

const announce = (announcement: Announcement): void =>
  void writeSync(announcementFd, `${JSON.stringify(announcement)}\n`)

interface Serving extends Made {
  readonly urls: ChangingUrls
}

function serve({ socketPath, secret }: IsolatedConfig, log: Logger, { shard, views, urls }: Serving) {
  const version = versionInfo(build())
  return createServer({
    host: 'localhost',
    port: 0,
    socketPath,
    log,
    version,
    ...shard,
    workspaces: [...views, decisions(views, shard.backend.authorizer)],
    authenticator: privateAuthenticator(secret),
    isIdentityHeader: isPrivateHeader,
    documents: createOpenApiDocuments(version),
    metrics: createMetrics(),
    checks: [],
    viewUrls: urls,
    // The server that started this process has counted the request.
    limits: unlimited,
  })
}

const unlimited = { reading: 0, mutating: 0, watching: 0 }
