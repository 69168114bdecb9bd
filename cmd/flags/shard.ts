import { type Command, InvalidArgumentError } from 'commander'

/** Which shard of a tree a server is; the flags are kcp's. */
export interface ShardOptions {
  readonly shardName: string
  readonly shardBaseUrl?: string
  readonly shardExternalUrl?: string
  readonly shardVirtualWorkspaceUrl?: string
  readonly rootShardKubeconfigFile?: string
  readonly logicalClusterAdminKubeconfig?: string
}

/** Adds the flags to a command. */
export const shardFlags = (command: Command): Command =>
  command
    .option('--shard-name <name>', 'what this shard is called', shardName, 'root')
    .option('--shard-base-url <url>', 'where other shards and front proxies reach it', url)
    .option('--shard-external-url <url>', 'what the URLs of its workspaces start with: a front proxy', url)
    .option('--shard-virtual-workspace-url <url>', 'what the URLs of its views start with', url)
    .option('--root-shard-kubeconfig-file <path>', 'the shard that has root: this one joins its tree')
    .option('--logical-cluster-admin-kubeconfig <path>', 'credentials with which shards reach each other')

function shardName(text: string): string {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text))
    throw new InvalidArgumentError('The name of a shard is a DNS label, such as eu-1.')
  return text
}

function url(text: string): string {
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  if (parsed?.protocol !== 'https:' || parsed.search !== '' || parsed.hash !== '' || parsed.username !== '')
    throw new InvalidArgumentError('Give an https URL without credentials and query.')
  return text.replace(/\/+$/, '')
}
