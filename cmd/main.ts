import { Command, Option } from 'commander'
import { doctorCommand } from './doctor/command.ts'
import { explainCommand } from './explain/command.ts'
import { version } from './files/build.ts'
import { StartError } from './files/starterror.ts'
import { auditFlags } from './flags/audit.ts'
import { accountFlags, identityFlags } from './flags/authentication.ts'
import { type ConnectionOptions, connectionFlags } from './flags/connection.ts'
import { type FrontProxyFlags, frontProxyFlags } from './flags/frontproxy.ts'
import { mountFlags } from './flags/mounts.ts'
import {
  address,
  authorizerOrder,
  hostname,
  logLevels,
  portNumber,
  type StartOptions,
} from './flags/serving.ts'
import { shardFlags } from './flags/shard.ts'
import { count, duration, places, textList } from './flags/values.ts'
import { viewFlag } from './flags/view.ts'
import { type VirtualWorkspacesFlags, virtualWorkspacesFlags } from './flags/virtualworkspaces.ts'

const program = new Command('oriel')
  .description('Virtual workspaces over logical clusters, compatible with kcp and Kubernetes.')
  .version(version())
  .showHelpAfterError('Try --help.')

viewFlag(auditFlags(shardFlags(accountFlags(identityFlags(mountFlags(program.command('start')))))))
  .description('serve logical clusters and their views from this machine')
  .option('--data-directory <path>', 'where certificates, tokens and objects are kept', '.oriel')
  .option('--bind-address <address>', 'the address to listen on', address, '127.0.0.1')
  .option('--port <number>', 'the port to listen on; 0 picks a free one', portNumber, 6443)
  .option('--external-hostname <name>', 'the name or address that clients use', hostname)
  .option(
    '--authorization-order <names>',
    'authorizers in the order in which they are asked',
    authorizerOrder,
  )
  .option('--authorization-always-allow-paths <paths>', 'what everybody may read; a * at the end', textList)
  .option('--authorization-webhook-config-file <path>', 'a server that decides, too, as a kubeconfig')
  .addOption(
    new Option('--authorization-webhook-version <version>', 'of the reviews it gets').choices([
      'v1',
      'v1beta1',
    ]),
  )
  .option('--authorization-webhook-cache-authorized-ttl <duration>', 'how long a yes is believed', duration)
  .option('--authorization-webhook-cache-unauthorized-ttl <duration>', 'how long a no is believed', duration)
  .option('--max-requests-inflight <number>', 'reading requests under way at once; 0: any', count, 400)
  .option('--max-mutating-requests-inflight <number>', 'writing requests, likewise', count, 200)
  .option('--webhook-allow <place>', 'a host, address or network where workspaces may have webhooks', places)
  .option('--store <where>', 'memory: or a directory (default: "store" in the data directory)')
  .addOption(new Option('--log-level <level>', 'what is logged').choices(logLevels).default('warn'))
  .action(async (options: StartOptions) => {
    const { start } = await import('./start/start.ts')
    await start(options)
  })

frontProxyFlags(program.command('front-proxy')).action(async (flags: FrontProxyFlags) => {
  const { startFrontProxy } = await import('./frontproxy/frontproxy.ts')
  await startFrontProxy(flags)
})
virtualWorkspacesFlags(program.command('virtual-workspaces')).action(
  async (flags: VirtualWorkspacesFlags) => {
    const { startVirtualWorkspaces } = await import('./views/virtualworkspaces.ts')
    await startVirtualWorkspaces(flags)
  },
)
doctorCommand(program.command('doctor'))
explainCommand(program.command('explain'))
connectionFlags(program.command('tree'))
  .description('show the workspaces below one, and where mounts and links lead')
  .action(async (options: ConnectionOptions) => {
    const { tree } = await import('./tree.ts')
    await tree(options)
  })

program.parseAsync().catch(error => {
  if (!(error instanceof StartError)) throw error
  process.stderr.write(`oriel: ${error.message}\n`)
  // What was already opened has nothing to lose and would keep the process.
  process.exit(1)
})
