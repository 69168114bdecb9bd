import type { Command } from 'commander'

/** `oriel new view <name>`. */
export function newCommand(command: Command): Command {
  command.description('Write the files of a new view.')
  command
    .command('view')
    .description('Write a view, its test and a package.json into a new directory.')
    .argument('<name>', 'name of the view and of the directory, e.g. team')
    .action(async (name: string) => {
      const { newView } = await import('./newview.ts')
      await newView(name)
    })
  return command
}
