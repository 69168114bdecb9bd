import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../files/starterror.ts'
import type { StartFlags } from '../flags/start.ts'

/** The names of the shards as in kcp's test server: `root`, `shard-1`, `shard-2`. */
export const shardNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => shardName(i))

const shardName = (index: number): string => (index === 0 ? 'root' : `shard-${index}`)

/** The directory of a shard or of the front proxy below the data directory. */
export const memberDirectory = (directory: string, name: string): string => join(directory, name)

/** Flags that `--shards` sets for each process. */
const set: readonly [flag: string, isGiven: (flags: StartFlags) => boolean][] = [
  ['--shard-name', ({ shardName }) => shardName !== 'root'],
  ['--shard-base-url', ({ shardBaseUrl }) => shardBaseUrl !== undefined],
  ['--shard-external-url', ({ shardExternalUrl }) => shardExternalUrl !== undefined],
  ['--shard-virtual-workspace-url', ({ shardVirtualWorkspaceUrl: url }) => url !== undefined],
  ['--root-shard-kubeconfig-file', ({ rootShardKubeconfigFile: file }) => file !== undefined],
  ['--logical-cluster-admin-kubeconfig', ({ logicalClusterAdminKubeconfig: file }) => file !== undefined],
]

/** Throws `StartError` for flags that do not go with `--shards`. */
export function checkFlags(flags: StartFlags): void {
  const own = set.find(([, isGiven]) => isGiven(flags))
  if (own !== undefined) throw new StartError(`--shards sets ${own[0]} for each shard: remove one of them.`)
  const { store, replicas, tlsCertFile, auditLogPath, port, shards } = flags
  if (replicas > 1) throw new StartError('--shards starts one process for each shard: remove --replicas.')
  if (store !== undefined && store !== 'memory:')
    throw new StartError(
      `--shards stores the objects of each shard in a directory of --data-directory: remove --store ${store}, or start each shard with its own command.`,
    )
  if (tlsCertFile !== undefined)
    throw new StartError(
      '--shards issues certificates for all its processes: remove --tls-cert-file, or start each shard with its own command.',
    )
  if (auditLogPath !== undefined && auditLogPath !== '-')
    throw new StartError(
      `The shards cannot write to the same file: give --audit-log-path - instead of ${auditLogPath}.`,
    )
  if (port !== 0 && port + shards > 65_535)
    throw new StartError(
      `The shards listen on the ${shards} ports after --port ${port}: choose a port up to ${65_535 - shards}.`,
    )
}

/** Throws `StartError` for the data directory of one server, and for that of more shards. */
export function checkDirectory(directory: string, count: number): void {
  if (existsSync(join(directory, 'store')))
    throw new StartError(
      `${directory} has the objects of one server: choose another --data-directory, or remove --shards.`,
    )
  const before = shardsIn(directory)
  if (before > count)
    throw new StartError(
      `${directory} has the objects of ${before} shards: give --shards ${before}, or choose another --data-directory.`,
    )
}

/** The number of shards whose objects the data directory has. */
function shardsIn(directory: string): number {
  let count = 0
  while (existsSync(join(directory, shardName(count), 'store'))) count++
  return count
}
