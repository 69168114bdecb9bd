import { type Command, InvalidArgumentError } from 'commander'
import { flagsBelongTogether, flagsNeed } from './rules.ts'
import { httpsUrl } from './values.ts'

/** Name and addresses of a shard; the flags are those of kcp. */
export interface ShardFlags {
  readonly shardName: string
  readonly shardBaseUrl?: string
  readonly shardExternalUrl?: string
  readonly shardVirtualWorkspaceUrl?: string
  readonly rootShardKubeconfigFile?: string
  readonly logicalClusterAdminKubeconfig?: string
  readonly externalLogicalClusterAdminKubeconfig?: string
  readonly shardClientCertFile?: string
  readonly shardClientKeyFile?: string
  readonly cacheKubeconfig?: string
}

/** Adds the flags to a command. */
export function addShardFlags(command: Command): Command {
  addShardOptions(command)
  flagsBelongTogether(command, '--shard-client-cert-file', '--shard-client-key-file')
  return flagsNeed(
    command,
    ['--shard-client-cert-file', '--external-logical-cluster-admin-kubeconfig'],
    '--logical-cluster-admin-kubeconfig',
    '--root-shard-kubeconfig-file',
  )
}

const addShardOptions = (command: Command): Command =>
  command
    .optionsGroup('Sharding:')
    .option('--shard-name <name>', 'name of this shard', shardName, 'root')
    .option(
      '--shard-base-url <url>',
      'URL by which other shards and front proxies reach this shard (default: URL of this server)',
      httpsUrl,
    )
    .option(
      '--shard-external-url <url>',
      'URL prefix of workspaces, e.g. that of a front proxy (default: --shard-base-url)',
      httpsUrl,
    )
    .option(
      '--shard-virtual-workspace-url <url>',
      'URL prefix of views (default: --shard-base-url)',
      httpsUrl,
    )
    .option(
      '--root-shard-kubeconfig-file <path>',
      'kubeconfig of the root shard; this shard joins its workspace tree',
    )
    .option(
      '--logical-cluster-admin-kubeconfig <path>',
      'kubeconfig with the credentials for requests to other shards',
    )
    .option(
      '--external-logical-cluster-admin-kubeconfig <path>',
      'kubeconfig with the credentials for logical clusters that move here from shards of kcp',
    )
    .option(
      '--shard-client-cert-file <path>',
      'PEM file of the client certificate for requests to other shards, instead of the credentials in that kubeconfig',
    )
    .option('--shard-client-key-file <path>', 'PEM file of its private key')
    .option(
      '--cache-kubeconfig <path>',
      'kubeconfig of a cache server, to which copies are written for shards of kcp in the tree',
    )

function shardName(text: string): string {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text))
    throw new InvalidArgumentError('A shard name is a DNS label, such as eu-1.')
  return text
}
