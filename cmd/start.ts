import { join } from 'node:path'
import { createLogger, type Logger } from '../framework/log.ts'
import { prepareAdmins } from './admins.ts'
import { audience, type PreparedAuthentication, prepareAuthentication } from './authentication.ts'
import { banner } from './banner.ts'
import { watchCertificate } from './certificatewatch.ts'
import { openDataDirectory } from './directory.ts'
import { writePrivately } from './files.ts'
import { watchIdentities } from './identitywatch.ts'
import { adminKubeconfig } from './kubeconfig.ts'
import { publicUrl, type StartOptions, servingHosts, withPort } from './options.ts'
import { withProgress } from './progress.ts'
import { prepareServiceAccountKeys } from './serviceaccountkey.ts'
import { prepareServing } from './servingfiles.ts'
import { type PreparedSharding, prepareSharding } from './sharding.ts'
import { stopSignal } from './shutdown.ts'
import { openStore } from './store.ts'

/** Milliseconds that running requests get to end. */
const grace = 10_000

/** `oriel start`: serves until SIGINT or SIGTERM. Throws `StartError` for what the user can change. */
export async function start(given: StartOptions): Promise<void> {
  const log = createLogger(given.logLevel)
  const directory = await openDataDirectory(given.dataDirectory)
  const options = await withPort(given)
  const url = publicUrl(options)
  const hosts = servingHosts(options)
  const kubeconfig = join(directory.path, 'admin.kubeconfig')
  const where = options.store ?? join(directory.path, 'store')
  const admins = await prepareAdmins(directory.path, kubeconfig)
  const keys = await prepareServiceAccountKeys(directory.path, options.serviceAccountKeyFile)
  const authentication = await prepareAuthentication(options, admins.users, { keys, issuer: audience })
  const stopping = new AbortController()

  const { signal } = stopping
  const sharding = await prepareSharding(options, url)
  const starting = { options, directory: directory.path, where, authentication, sharding, log, signal }
  const running = await withProgress('Starting', () => bringUp(starting))
  const { shard, server, store, authority, audit } = running
  const controllers = shard.run()
  watchCertificate({ directory: directory.path, hosts, server, log, signal })
  watchIdentities({ options, authentication, server, log, signal })
  await writePrivately(kubeconfig, adminKubeconfig({ server: url, ca: authority, ...admins }))
  // Before anybody can know that there is something to stop.
  const stopped = stopSignal()
  process.stdout.write(banner({ url, kubeconfig, store: where, startedIn: performance.now() }))

  await stopped
  await server.close(grace)
  await audit?.close()
  stopping.abort()
  await controllers
  shard.close()
  await store.close()
  await directory.release()
}

interface Starting {
  readonly options: StartOptions
  /** Of data. */
  readonly directory: string
  /** Of the store. */
  readonly where: string
  readonly authentication: PreparedAuthentication
  readonly sharding: PreparedSharding
  readonly log: Logger
  readonly signal: AbortSignal
}

/** Opens the store, the shard over it and the port. */
async function bringUp(starting: Starting) {
  const { options, directory, where, authentication, sharding, log, signal } = starting
  // Certificates are made by another process while this one loads and prepares everything else.
  const serving = prepareServing(directory, servingHosts(options))
  const rootCA = serving.then(({ authority }) => authority)
  rootCA.catch(() => undefined)
  const [store, { openEmbedded }, { serve }, { prepareAuthorization }, { missingFor, prepareAudit }] =
    await Promise.all([
      openStore(where),
      import('./shard.ts'),
      import('./serve.ts'),
      import('./authorization.ts'),
      import('./audit.ts'),
    ])
  const authorization = await prepareAuthorization(options)
  const audit = await prepareAudit(options, log)
  const shard = await openEmbedded({
    ...{ store, sharding, rootCA, authentication, authorization, log, signal },
    issuerAllow: options.issuerAllow ?? [],
    webhookAllow: options.webhookAllow ?? [],
  })
  const auditor = audit?.auditor(shard, missingFor(shard, authorization))
  const served = { options, host: shard, authentication, serving: await serving, log }
  const server = await serve({ ...served, ...(auditor && { auditor }) })
  return { shard, server, store, authority: await rootCA, audit }
}
