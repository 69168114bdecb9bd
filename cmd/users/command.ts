import type { Command } from 'commander'
import { commonOption, positiveDuration } from '../flags/values.ts'
import type { AddUserFlags, UserFlags } from './users.ts'

const collected = (text: string, before: readonly string[] = []): readonly string[] => [...before, text]

const dataDirectory = () =>
  commonOption('--data-directory <path>', 'directory of certificates, tokens and objects').default('.oriel')

/** `oriel user`. */
export function userCommand(command: Command): Command {
  command.description('Manage users of oriel start who authenticate with a token.')
  command
    .command('add')
    .argument('<name>', 'name of the user in role bindings')
    .description('Add a user, and write a kubeconfig with a new token.')
    .addOption(dataDirectory())
    .option('--group <name>', 'group of the user; repeat the flag for several', collected)
    .option(
      '--expires <duration>',
      'time after which the token is rejected, such as 720h (default: never)',
      positiveDuration,
    )
    .option('-o, --output <file>', 'kubeconfig to write (default: "<name>.kubeconfig")')
    .action(async (name: string, flags: AddUserFlags) => {
      const { add } = await import('./users.ts')
      await add(name, flags)
    })
  command
    .command('list')
    .description('List the users.')
    .addOption(dataDirectory())
    .action(async (flags: UserFlags) => {
      const { list } = await import('./users.ts')
      await list(flags)
    })
  command
    .command('remove')
    .argument('<name>', 'name of the user')
    .description('Remove a user, whose token is then rejected.')
    .addOption(dataDirectory())
    .action(async (name: string, flags: UserFlags) => {
      const { remove } = await import('./users.ts')
      await remove(name, flags)
    })
  return command
}
