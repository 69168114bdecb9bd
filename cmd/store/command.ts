import { type Command, Option } from 'commander'
import { addEtcdAccessFlags, needEtcd } from '../flags/etcd.ts'
import type { BackupFlags } from './backup.ts'
import type { CheckFlags } from './check.ts'
import type { CopyFlags } from './copy.ts'
import type { RestoreFlags } from './restore.ts'

const dataDirectory = (): Option =>
  new Option('--data-directory <path>', 'directory of certificates, tokens and objects').default('.oriel')
const store = (): Option =>
  new Option('--store <directory>', 'directory of the store (default: "store" in the data directory)')

/** `oriel backup`. */
export const backupCommand = (command: Command): Command =>
  command
    .description('Copy the data directory of a server to one file, also while the server runs.')
    .addOption(dataDirectory())
    .addOption(store())
    .requiredOption(
      '-o, --output <file>',
      'tar file to write, which has private keys in it; a name that ends with .gz is compressed; "-" is standard output',
    )
    .action(async (flags: BackupFlags) => {
      const { backup } = await import('./backup.ts')
      await backup(flags)
    })

/** `oriel restore`. */
export const restoreCommand = (command: Command): Command =>
  command
    .description('Make the data directory of a server from a backup.')
    .addOption(dataDirectory())
    .requiredOption('-i, --input <file>', 'tar file that oriel backup has written; "-" is standard input')
    .action(async (flags: RestoreFlags) => {
      const { restore } = await import('./restore.ts')
      await restore(flags)
    })

/** `oriel store`. */
export function storeCommand(command: Command): Command {
  command.description('Inspect and copy stores.')
  command
    .command('check')
    .description('Read all of a store and compare its checksums, also while a server uses it.')
    .addOption(dataDirectory())
    .addOption(store())
    .action(async (flags: CheckFlags) => {
      const { check } = await import('./check.ts')
      process.exitCode = await check(flags)
    })
  addCopy(command.command('copy'))
  return command
}

function addCopy(command: Command): void {
  command
    .description('Copy a store whose servers are stopped to another place, and compare the copy.')
    .requiredOption('--from <location>', 'directory of the store, or etcd://host:2379,...')
    .requiredOption('--to <location>', 'empty directory, or etcd://host:2379,...')
  needEtcd(addEtcdAccessFlags(command), '--from', '--to').action(async (flags: CopyFlags) => {
    const { copy } = await import('./copy.ts')
    await copy(flags)
  })
}
