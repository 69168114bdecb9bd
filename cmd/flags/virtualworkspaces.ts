import { type Command, InvalidArgumentError, Option } from 'commander'
import { type AuditFlags, auditFlags } from './audit.ts'
import { ignoredFlags } from './ignored.ts'
import { type RequestHeaderFlags, requestHeaderFlags } from './requestheader.ts'
import { address, hostname, portNumber } from './serving.ts'
import { type ViewOptions, viewFlag } from './view.ts'

/** The flags of `oriel virtual-workspaces`, checked. */
export interface VirtualWorkspacesFlags extends RequestHeaderFlags, AuditFlags, ViewOptions {
  readonly kubeconfig: string
  readonly context?: string
  readonly externalLogicalClusterAdminKubeconfig?: string
  readonly cacheKubeconfig?: string
  /** What kcp called it before. */
  readonly cacheServerKubeconfigFile?: string
  readonly authenticationKubeconfig?: string
  readonly clientCaFile?: string
  readonly bindAddress: string
  readonly securePort: number
  readonly externalHostname?: string
  readonly certDir: string
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
  /** klog's verbosity. */
  readonly v: number
}

/** Adds kcp's flags (chapter 10, section 10.3): those that mean something here, and those that do not. */
export function virtualWorkspacesFlags(command: Command): Command {
  command
    .description('serve the views of a kcp shard that runs elsewhere')
    .requiredOption('--kubeconfig <path>', 'how to reach the shard, with credentials that may do everything')
    .option('--context <name>', 'the context of the kubeconfig to use; the current one by default')
    .option(
      '--external-logical-cluster-admin-kubeconfig <path>',
      'how to reach logical clusters of other shards, to ask who may do what there',
    )
    .option('--cache-kubeconfig <path>', 'how to reach the cache server; the shard has it by default')
    .addOption(new Option('--cache-server-kubeconfig-file <path>').hideHelp())
    .option('--authentication-kubeconfig <path>', 'who reviews tokens; the shard by default')
    .option('--client-ca-file <path>', 'authorities whose client certificates are users, PEM')
    .option('--bind-address <address>', 'the address to listen on', address, '0.0.0.0')
    .option('--secure-port <number>', 'the port to listen on; 0 picks a free one', portNumber, 6444)
    .option('--external-hostname <name>', 'the name or address that clients use', hostname)
    .option('--cert-dir <path>', 'where the serving certificate is made when no other is given', '.kcp')
    .option('--tls-cert-file <path>', 'the serving certificate, PEM')
    .option('--tls-private-key-file <path>', 'its key, PEM')
    .addOption(new Option('-v, --v <level>', 'how much is logged, 0 to 10').argParser(verbosity).default(2))
  return ignoredFlags(viewFlag(auditFlags(requestHeaderFlags(command))))
}

/** Also as `-v=4`. */
function verbosity(text: string): number {
  const level = Number(text.replace(/^=/, ''))
  if (!Number.isInteger(level) || level < 0) throw new InvalidArgumentError('Give a number from 0 to 10.')
  return level
}
