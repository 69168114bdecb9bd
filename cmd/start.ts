import { join } from 'node:path'
import { createLogger } from '../framework/log.ts'
import { prepareAdmins } from './admins.ts'
import { prepareAuthentication } from './authentication.ts'
import { banner } from './banner.ts'
import { openDataDirectory } from './directory.ts'
import { writePrivately } from './files.ts'
import { adminKubeconfig } from './kubeconfig.ts'
import { checkOptions, type StartOptions, servingHosts, startUrl } from './options.ts'
import { withProgress } from './progress.ts'
import { prepareServing } from './servingfiles.ts'
import { stopSignal } from './shutdown.ts'
import { openStore } from './store.ts'

/** Milliseconds that running requests get to end. */
const grace = 10_000

/** `oriel start`: serves until SIGINT or SIGTERM. Throws `StartError` for what the user can change. */
export async function start(options: StartOptions): Promise<void> {
  checkOptions(options)
  const log = createLogger(options.logLevel)
  const directory = await openDataDirectory(options.dataDirectory)
  const kubeconfig = join(directory.path, 'admin.kubeconfig')
  const where = options.store ?? join(directory.path, 'store')
  const admins = await prepareAdmins(directory.path, kubeconfig)
  const { authenticator, clientCA } = await prepareAuthentication(options, admins.users)

  const stopping = new AbortController()
  const [serving, store, { openEmbedded }, { serve }] = await withProgress('Starting', () =>
    Promise.all([
      prepareServing(directory.path, servingHosts(options)),
      openStore(where),
      import('./shard.ts'),
      import('./serve.ts'),
    ]),
  )
  const shard = await openEmbedded({ store, log, signal: stopping.signal })
  const server = await serve({ options, host: shard, authenticator, serving, clientCA, log })
  const controllers = shard.run()

  const url = startUrl(options) ?? server.url
  await writePrivately(kubeconfig, adminKubeconfig({ server: url, ca: serving.authority, ...admins }))
  process.stdout.write(banner({ url, kubeconfig, store: where, startedIn: performance.now() }))

  await stopSignal()
  await server.close(grace)
  stopping.abort()
  await controllers
  shard.close()
  await store.close()
  await directory.release()
}
