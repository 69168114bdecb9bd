import { type Command, Option } from 'commander'
import { type AuditFlags, addAuditFlags } from './audit.ts'
import { addRequestHeaderFlags, clientCaOption, type RequestHeaderFlags } from './authentication.ts'
import { featureGatesOption } from './featuregates.ts'
import { addIgnoredFlags, ignoredByViews } from './ignored.ts'
import { addLimitFlags, type LimitFlags } from './limits.ts'
import { flagsBelongTogether } from './rules.ts'
import { servedText } from './servedviews.ts'
import { addHostnameFlag, addViewFlags, type ViewFlags } from './serving.ts'
import { addTracingFlags, type TracingFlags } from './tracing.ts'
import { address, commonOption, portNumber } from './values.ts'
import { verbosityOption } from './verbosity.ts'

/** The flags of `oriel virtual-workspaces`, checked. */
export interface VirtualWorkspacesFlags
  extends RequestHeaderFlags,
    AuditFlags,
    ViewFlags,
    LimitFlags,
    TracingFlags {
  readonly kubeconfig: string
  readonly context?: string
  readonly externalLogicalClusterAdminKubeconfig?: string
  readonly cacheKubeconfig?: string
  /** The former name of `--cache-kubeconfig` in kcp. */
  readonly cacheServerKubeconfigFile?: string
  readonly authenticationKubeconfig?: string
  readonly clientCaFile?: string
  readonly bindAddress: string
  readonly securePort: number
  readonly externalHostname?: string
  readonly certDir: string
  readonly tlsCertFile?: string
  readonly tlsPrivateKeyFile?: string
  /** Verbosity of klog. */
  readonly v: number
}

/** Adds the flags of kcp's `virtual-workspaces` command (kcp cmd/virtual-workspaces/options). */
export function addVirtualWorkspacesFlags(command: Command): Command {
  command
    .description('Serve the views of a kcp shard that runs in another process.')
    .addHelpText('after', `\n${servedText}\nOther flags of kcp are accepted and ignored with a warning.`)
  addTlsFlags(addViewFlags(addListeningFlags(addShardFlags(command))))
  addPeerFlags(command)
    .addOption(new Option('--cache-server-kubeconfig-file <path>').conflicts('cacheKubeconfig').hideHelp())
    .addOption(featureGatesOption())
  return addIgnoredFlags(
    ignoredByViews,
    addTracingFlags(addLimitFlags(addAuditFlags(addRequestHeaderFlags(command)))),
  )
}

const addShardFlags = (command: Command): Command =>
  command
    .addOption(
      commonOption(
        '--kubeconfig <path>',
        'kubeconfig of the shard, with credentials of group system:masters (required)',
      ).makeOptionMandatory(),
    )
    .addOption(commonOption('--context <name>', 'context of the kubeconfig (default: the current context)'))
    .addOption(clientCaOption())

const addListeningFlags = (command: Command): Command =>
  addHostnameFlag(
    command
      .addOption(
        commonOption('--bind-address <address>', 'IP address to listen on')
          .argParser(address)
          .default('0.0.0.0'),
      )
      .addOption(
        commonOption('--secure-port <number>', 'port to listen on; 0 selects a free port')
          .argParser(portNumber)
          .default(6444),
      ),
  )

const addTlsFlags = (command: Command): Command =>
  flagsBelongTogether(addTlsOptions(command), '--tls-cert-file', '--tls-private-key-file')

const addTlsOptions = (command: Command): Command =>
  command
    .addOption(commonOption('--tls-cert-file <path>', 'PEM file of the serving certificate'))
    .addOption(commonOption('--tls-private-key-file <path>', 'PEM file of its private key'))
    .addOption(
      commonOption(
        '--cert-dir <path>',
        'directory of the generated serving certificate, without --tls-cert-file',
      ).default('.kcp'),
    )
    .addOption(verbosityOption().default(2))

const addPeerFlags = (command: Command): Command =>
  command
    .optionsGroup('Other servers:')
    .option('--cache-kubeconfig <path>', 'kubeconfig of the cache server (default: the shard)')
    .option(
      '--authentication-kubeconfig <path>',
      'kubeconfig of the server that reviews tokens (default: the shard)',
    )
    .option(
      '--external-logical-cluster-admin-kubeconfig <path>',
      'kubeconfig of a front proxy, for access reviews in logical clusters of other shards',
    )
