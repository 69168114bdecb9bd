import { type Command, Option } from 'commander'
import { type IdentityOptions, identityFlags } from './authentication.ts'
import { type MountOptions, mountFlags } from './mounts.ts'
import { address, hostname, type Listening, logLevels, portNumber } from './serving.ts'
import { textList } from './values.ts'

/** The flags of `oriel front-proxy`, checked. */
export interface FrontProxyFlags extends Listening, MountOptions, IdentityOptions {
  readonly mappingFile: string
  readonly rootKubeconfig: string
  readonly shardsKubeconfig: string
  readonly dataDirectory: string
  readonly externalUrl?: string
  readonly authenticationPassOnGroups?: readonly string[]
  readonly authenticationDropGroups?: readonly string[]
  readonly logLevel: (typeof logLevels)[number]
}

/** Adds the flags to a command, named as kcp's where kcp has them. */
export const frontProxyFlags = (command: Command): Command =>
  identityFlags(mountFlags(command))
    .description('serve the workspaces of several shards under one address')
    .requiredOption('--mapping-file <path>', 'what of the URL space goes where, YAML')
    .requiredOption('--root-kubeconfig <path>', 'how to reach the root shard, to see the shards')
    .requiredOption('--shards-kubeconfig <path>', 'credentials that see everything on every shard')
    .option('--data-directory <path>', 'where the serving certificate is kept', '.oriel-front-proxy')
    .option('--bind-address <address>', 'the address to listen on', address, '127.0.0.1')
    .option('--port <number>', 'the port to listen on; 0 picks a free one', portNumber, 8443)
    .option('--external-hostname <name>', 'the name or address that clients use', hostname)
    .option('--external-url <url>', 'what the URLs of workspaces start with, where that is something else')
    .option(
      '--authentication-pass-on-groups <groups>',
      'groups that shards get to see; all by default',
      textList,
    )
    .option('--authentication-drop-groups <groups>', 'groups that shards never get to see', textList)
    .addOption(new Option('--log-level <level>', 'what is logged').choices(logLevels).default('warn'))
