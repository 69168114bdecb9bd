import { Argument, type Command } from 'commander'
import { bashCompletion, zshCompletion } from './bash.ts'
import { commandsOf } from './commandtree.ts'
import { fishCompletion } from './fish.ts'

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }

/** `oriel completion`, for all commands of the program. */
export const completionCommand = (command: Command, program: Command): Command =>
  command
    .description('Print a script that completes commands and flags in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(shells)))
    .addHelpText('after', '\nFor bash: source <(oriel completion bash)')
    .action((shell: keyof typeof shells) => {
      process.stdout.write(shells[shell](commandsOf(program)))
    })
