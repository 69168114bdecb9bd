import { createLogger, type Logger } from '../../framework/contract/log.ts'
import { versionInfo } from '../../framework/contract/version.ts'
import { createMetrics } from '../../framework/metrics/metrics.ts'
import { openPort } from '../../framework/server/listener.ts'
import { type Server, serveOn } from '../../framework/server/server.ts'
import { createOpenApiDocuments } from '../../openapi/documents/documents.ts'
import { openWatchCache } from '../../shard/cache/watchcache.ts'
import { openCacheServer } from '../../shard/cacheserver/view.ts'
import { type PreparedIdentities, prepareIdentities } from '../authentication/authentication.ts'
import { allAuthorities } from '../certificates/authorities.ts'
import { build } from '../files/build.ts'
import { openDataDirectory } from '../files/directory.ts'
import type { FileWatchEnding } from '../files/follow.ts'
import { openStore, storePlace } from '../files/store.ts'
import type { CacheServerFlags } from '../flags/cacheserver.ts'
import { ignoredByCacheServer, warningsAbout } from '../flags/ignored.ts'
import { connectionLimit } from '../flags/limits.ts'
import { listenError, publicUrl, servingHosts, withPort } from '../flags/serving.ts'
import { collectWhenIdle } from '../process/idlecollection.ts'
import { logStopped, stopSignal } from '../process/shutdown.ts'
import { type OpenedCertificate, openServingCertificate } from '../start/servingcertificate.ts'
import { asStartError, endBecause } from '../start/storeerrors.ts'
import { withHealthOfShards } from './paths.ts'

/** Milliseconds that requests in progress may take to end after SIGTERM. */
const grace = 10_000

/** `oriel cache-server`: serves until SIGINT or SIGTERM. Throws `StartError` on invalid flags and files. */
export async function startCacheServer(given: CacheServerFlags): Promise<void> {
  const log = createLogger(given.logLevel)
  for (const warning of warningsAbout(ignoredByCacheServer, given)) log.warn({}, warning)
  const directory = await openDataDirectory(given.dataDirectory)
  const identities = await prepareIdentities(given, [])
  const flags = await withPort(given)
  const serving = await openServingCertificate(flags, directory.path, servingHosts(flags))
  const stopping = new AbortController()
  const { signal } = stopping
  collectWhenIdle(signal)
  const opened = await openObjects(flags, directory.path, { log, signal })
  const server = await serve({ flags, identities, serving, log, ...opened })
  serving.follow(server, { log, signal })
  identities.follow(server, { log, signal })
  const stopped = stopSignal()
  const authority = flags.tlsCertFile ?? `${directory.path}/ca.crt`
  process.stdout.write(`Serving on ${publicUrl(flags)}, certificate authority: ${authority}\n`)
  await stopped
  await server.close(grace)
  stopping.abort()
  await opened.store.close()
  await directory.release()
  logStopped(log)
}

/** The store of the flags, and its objects in memory. */
async function openObjects(flags: CacheServerFlags, dataDirectory: string, ending: FileWatchEnding) {
  const where = storePlace(flags, dataDirectory)
  const store = await openStore(where, { ...flags, dataDirectory }, ending).catch(asStartError)
  void store.failed.then(endBecause)
  return { store, cache: await openWatchCache(store, ending).catch(asStartError) }
}

interface CacheServing extends Awaited<ReturnType<typeof openObjects>> {
  readonly flags: CacheServerFlags
  readonly identities: PreparedIdentities
  readonly serving: OpenedCertificate
  readonly log: Logger
}

async function serve({ flags, identities, serving, log, ...objects }: CacheServing): Promise<Server> {
  const version = versionInfo(build())
  const { certificate: cert, key } = serving.files
  const clientCA = allAuthorities(identities.authorities())
  try {
    const tls = { cert, key, ...(clientCA && { clientCA }) }
    const connections = connectionLimit({}, log)
    const port = await openPort({ host: flags.bindAddress, port: flags.port, tls, log, connections })
    return serveOn(withHealthOfShards(port), {
      ...openCacheServer({ ...objects, log }),
      authenticator: identities.with().authenticator,
      documents: createOpenApiDocuments(version),
      version,
      log,
      metrics: createMetrics({ cachedLists: true }),
      checks: [],
      publicUrl: publicUrl(flags),
    })
  } catch (error) {
    throw listenError(error, flags)
  }
}
