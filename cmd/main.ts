#!/usr/bin/env node
import { Command, Option } from 'commander'
import { version } from './build.ts'
import { mountFlags } from './mountflags.ts'
import { address, hostname, logLevels, portNumber, type StartOptions } from './options.ts'
import { StartError } from './starterror.ts'

const program = new Command('oriel')
  .description('Virtual workspaces over logical clusters, compatible with kcp and Kubernetes.')
  .version(version())
  .showHelpAfterError('Try --help.')

mountFlags(program.command('start'))
  .description('serve logical clusters and their views from this machine')
  .option('--data-directory <path>', 'where certificates, tokens and objects are kept', '.oriel')
  .option('--bind-address <address>', 'the address to listen on', address, '127.0.0.1')
  .option('--port <number>', 'the port to listen on; 0 picks a free one', portNumber, 6443)
  .option('--external-hostname <name>', 'the name or address that clients use', hostname)
  .option('--token-auth-file <path>', 'users with fixed tokens: lines of token,user,uid,"group1,group2"')
  .option('--client-ca-file <path>', 'authorities whose client certificates are users, PEM')
  .option('--service-account-key-file <path>', 'what tokens of service accounts are signed with, PEM')
  .option('--store <where>', 'memory: or a directory (default: "store" in the data directory)')
  .addOption(new Option('--log-level <level>', 'what is logged').choices(logLevels).default('warn'))
  .action(async (options: StartOptions) => {
    const { start } = await import('./start.ts')
    await start(options)
  })

try {
  await program.parseAsync()
} catch (error) {
  if (!(error instanceof StartError)) throw error
  process.stderr.write(`oriel: ${error.message}\n`)
  // What was already opened has nothing to lose and would keep the process.
  process.exit(1)
}
