import { createLogger } from '../../framework/contract/log.ts'
import { openDataDirectory } from '../files/directory.ts'
import { isEtcd } from '../files/etcdaccess.ts'
import { StartError } from '../files/starterror.ts'
import type { StartFlags } from '../flags/start.ts'
import { Crew, WorkerEnded } from '../process/crew.ts'
import { stopSignal } from '../process/shutdown.ts'

/**
 * `oriel start --replicas`: several processes that share the port and the data directory, each a server over the same etcd.
 * Serves until SIGINT or SIGTERM. Throws `StartError` for other stores.
 */
export async function startReplicas(flags: StartFlags): Promise<void> {
  checkFlags(flags)
  const log = createLogger(flags.logLevel)
  const directory = await openDataDirectory(flags.dataDirectory)
  const stopped = stopSignal()
  const crew = new Crew({
    count: flags.replicas,
    ready: banner => void process.stdout.write(banner),
    failed: (replica, code) => log.error({ replica, code }, 'a replica ended and is started again'),
  })
  try {
    await Promise.race([crew.start(), stopped])
  } catch (error) {
    await crew.stop('SIGKILL')
    // The replica has written the reason.
    if (error instanceof WorkerEnded) process.exit(error.code === 0 ? 1 : error.code)
    throw error
  }
  await stopped
  await crew.stop('SIGTERM')
  await directory.release()
}

function checkFlags({ store = '', watch, etcdSharedKeys }: StartFlags): void {
  if (!isEtcd(store))
    throw new StartError(
      '--replicas needs a store in etcd, because one process at a time writes a directory: add --store etcd://host:2379, or remove --replicas.',
    )
  if (!etcdSharedKeys)
    throw new StartError('--replicas needs shared keys: remove --etcd-shared-keys=false or --replicas.')
  if (watch === true) throw new StartError('--watch is for one process: remove --watch or --replicas.')
}
