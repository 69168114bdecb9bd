import { basename } from 'node:path'
import { Command } from 'commander'
import { completionCommand } from './completion/command.ts'
import { doctorCommand } from './doctor/command.ts'
import { explainCommand } from './explain/command.ts'
import { version } from './files/build.ts'
import { checkOpenFileLimit, isOutOfFiles, outOfFiles } from './files/openfiles.ts'
import { StartError } from './files/starterror.ts'
import { printError } from './files/terminaltext.ts'
import { addCacheServerFlags, type CacheServerFlags } from './flags/cacheserver.ts'
import { addConnectionFlags, type ConnectionFlags } from './flags/connection.ts'
import { addFrontProxyFlags, type FrontProxyFlags } from './flags/frontproxy.ts'
import { type KcpFlags, withEtcdServers, withKcpFlags, withKcpNames } from './flags/kcp.ts'
import { refuseEmptyFlags } from './flags/rules.ts'
import { addStartFlags, type StartFlags } from './flags/start.ts'
import { addVirtualWorkspacesFlags, type VirtualWorkspacesFlags } from './flags/virtualworkspaces.ts'
import { newCommand } from './newview/command.ts'
import { endWithReader, outliveReader } from './process/closedpipe.ts'
import { isWorker } from './process/worker.ts'
import { backupCommand, restoreCommand, storeCommand } from './store/command.ts'
import { userCommand } from './users/command.ts'
import { queryCommand, viewsCommand, watchCommand } from './viewtools/command.ts'

// They are for developers: grpc-js causes one by a TLS connection to an IP address, such as that of etcd.
process.noDeprecation = true

/** kubectl runs `kubectl-oriel` on the PATH as `kubectl oriel`. */
const isPlugin = basename(process.argv[1] ?? '').startsWith('kubectl-oriel')

const program = new Command(isPlugin ? 'kubectl oriel' : 'oriel')
  .description('Virtual workspaces over logical clusters, compatible with kcp and Kubernetes.')
  .version(version())
  .showHelpAfterError('Run the command with --help for its flags.')

program.commandsGroup('Servers:')
addStartFlags(program.command('start')).action(async (flags: StartFlags & KcpFlags) => {
  if (flags.shards > 1) {
    const { startShards } = await import('./shards/shards.ts')
    return startShards(withKcpFlags(flags))
  }
  if (flags.replicas > 1 && !isWorker()) {
    const { startReplicas } = await import('./start/replicas.ts')
    return startReplicas(withKcpFlags(flags))
  }
  const { start } = await import('./start/start.ts')
  await start(withKcpFlags(flags))
})
addFrontProxyFlags(program.command('front-proxy')).action(async (flags: FrontProxyFlags) => {
  const { startFrontProxy } = await import('./frontproxy/frontproxy.ts')
  await startFrontProxy(withKcpNames(flags))
})
addCacheServerFlags(program.command('cache-server')).action(async (flags: CacheServerFlags) => {
  const { startCacheServer } = await import('./cacheserver/cacheserver.ts')
  await startCacheServer(withEtcdServers(withKcpNames(flags)))
})
addVirtualWorkspacesFlags(program.command('virtual-workspaces')).action(
  async (flags: VirtualWorkspacesFlags) => {
    const { startVirtualWorkspaces } = await import('./views/virtualworkspaces.ts')
    await startVirtualWorkspaces(flags)
  },
)

program.command('isolated-view', { hidden: true }).action(async () => {
  const { serveIsolated } = await import('./isolatedview/isolatedview.ts')
  await serveIsolated()
})

program.command('member', { hidden: true }).action(async () => {
  const { runMember } = await import('./shards/member.ts')
  await runMember()
})

program.commandsGroup('Tools:').helpCommand('help [command]', 'Print the help of a command.')
doctorCommand(program.command('doctor'))
explainCommand(program.command('explain'))
newCommand(program.command('new'))
backupCommand(program.command('backup'))
restoreCommand(program.command('restore'))
storeCommand(program.command('store'))
userCommand(program.command('user'))
addConnectionFlags(program.command('tree'))
  .description('Print the workspaces below a workspace, and the targets of mounts and links.')
  .action(async (flags: ConnectionFlags) => {
    const { tree } = await import('./tree.ts')
    await tree(flags)
  })
queryCommand(program.command('query'))
viewsCommand(program.command('views'))
watchCommand(program.command('watch'))
completionCommand(program.command('completion'), program)

const servers: ReadonlySet<string> = new Set([
  'start',
  'front-proxy',
  'cache-server',
  'virtual-workspaces',
  'member',
])
program.hook('preAction', (_program, command) => {
  const isServer = servers.has(command.name())
  if (isServer) outliveReader(process.stdout)
  else endWithReader(process.stdout)
  refuseEmptyFlags(command)
  if (isServer) checkOpenFileLimit()
})

program.parseAsync().catch(error => {
  if (!(error instanceof StartError) && !isOutOfFiles(error)) throw error
  printError(`oriel: ${error instanceof StartError ? error.message : outOfFiles}`)
  // Sockets and watches that are already open would keep the process running.
  process.exit(1)
})
