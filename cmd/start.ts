import { join } from 'node:path'
import { createLogger } from '../framework/log.ts'
import { prepareAdmins } from './admins.ts'
import { audience, prepareAuthentication } from './authentication.ts'
import { banner } from './banner.ts'
import { watchCertificate } from './certificatewatch.ts'
import { openDataDirectory } from './directory.ts'
import { writePrivately } from './files.ts'
import { adminKubeconfig } from './kubeconfig.ts'
import { publicUrl, type StartOptions, servingHosts, withPort } from './options.ts'
import { withProgress } from './progress.ts'
import { prepareServiceAccountKeys } from './serviceaccountkey.ts'
import { prepareServing } from './servingfiles.ts'
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

  const { shard, server, store, authority } = await withProgress('Starting', async () => {
    // Certificates are made by another process while this one loads and prepares everything else.
    const serving = prepareServing(directory.path, hosts)
    const rootCA = serving.then(({ authority }) => authority)
    rootCA.catch(() => undefined)
    const [store, { openEmbedded }, { serve }] = await Promise.all([
      openStore(where),
      import('./shard.ts'),
      import('./serve.ts'),
    ])
    const shard = await openEmbedded({ store, url, rootCA, authentication, log, signal: stopping.signal })
    const server = await serve({ options, host: shard, authentication, serving: await serving, log })
    return { shard, server, store, authority: await rootCA }
  })
  const controllers = shard.run()
  watchCertificate({ directory: directory.path, hosts, server, log, signal: stopping.signal })
  await writePrivately(kubeconfig, adminKubeconfig({ server: url, ca: authority, ...admins }))
  process.stdout.write(banner({ url, kubeconfig, store: where, startedIn: performance.now() }))

  await stopSignal()
  await server.close(grace)
  stopping.abort()
  await controllers
  shard.close()
  await store.close()
  await directory.release()
}
