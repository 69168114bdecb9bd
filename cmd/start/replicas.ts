import type { Worker } from 'node:cluster'
import { createLogger } from '../../framework/contract/log.ts'
import { serveStore } from '../../shard/store/relayed/storeserver.ts'
import type { Store } from '../../shard/store/store.ts'
import { ownAdminTokens } from '../authentication/admins.ts'
import { openServerDirectory } from '../files/directory.ts'
import { isEtcd } from '../files/etcdaccess.ts'
import { kubeconfigPlace } from '../files/kubeconfig.ts'
import { StartError } from '../files/starterror.ts'
import { openStore, storePlace } from '../files/store.ts'
import type { StartFlags } from '../flags/start.ts'
import { Crew, WorkerEnded } from '../process/crew.ts'
import { stopSignal } from '../process/shutdown.ts'
import { lineToWorker } from '../process/storeline.ts'
import { asStartError, endBecause } from './storeerrors.ts'

/**
 * `oriel start --replicas`: several processes that share the port and the data directory. Over etcd each opens the store; another
 * store has one writer, which is this process: the others read and write by messages. Serves until SIGINT or SIGTERM.
 */
export async function startReplicas(flags: StartFlags): Promise<void> {
  checkFlags(flags)
  const log = createLogger(flags.logLevel)
  const directory = await openServerDirectory(flags.dataDirectory)
  const store = await openOwnStore(flags, directory.path).catch(asStartError)
  const stopped = stopSignal()
  const crew = new Crew({
    count: flags.replicas,
    admins: store && (await ownAdminTokens(directory.path, kubeconfigPlace(flags, directory.path))),
    launched: serving(store),
    ready: banner => void process.stdout.write(banner),
    failed: (replica, code) => log.error({ replica, code }, 'a replica ended and is started again'),
  })
  try {
    await Promise.race([crew.start(), stopped])
  } catch (error) {
    await crew.stop('SIGKILL')
    await store?.close()
    // The replica has written the reason.
    if (error instanceof WorkerEnded) process.exit(error.code === 0 ? 1 : error.code)
    throw error
  }
  await stopped
  process.exitCode = await crew.stop('SIGTERM')
  await store?.close()
  await directory.release()
}

/** The store that this process opens for the replicas; undefined over etcd. */
async function openOwnStore(flags: StartFlags, directory: string): Promise<Store | undefined> {
  const where = storePlace(flags, directory)
  if (isEtcd(where)) return undefined
  const store = await openStore(where)
  void store.failed.then(endBecause)
  return store
}

const serving =
  (store: Store | undefined) =>
  (worker: Worker): void => {
    if (store !== undefined) serveStore(store, lineToWorker(worker))
  }

function checkFlags({ store = '', watch, etcdSharedKeys }: StartFlags): void {
  if (isEtcd(store) && !etcdSharedKeys)
    throw new StartError('--replicas needs shared keys: remove --etcd-shared-keys=false or --replicas.')
  if (watch === true) throw new StartError('--watch is for one process: remove --watch or --replicas.')
}
