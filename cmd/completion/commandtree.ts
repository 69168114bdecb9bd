import type { Command, Option } from 'commander'

/** A flag as a shell completes it. */
export interface Flag {
  /** With its dashes: `--log-level`, `-o`. */
  readonly names: readonly string[]
  readonly description: string
  readonly takesValue: boolean
  /** The accepted values; empty for others. */
  readonly choices: readonly string[]
}

/** A command, with the words that lead to it: `store check`; '' is the program. */
export interface CompletedCommand {
  readonly words: string
  readonly description: string
  /** The names of its subcommands. */
  readonly children: readonly string[]
  /** The accepted values of its first argument. */
  readonly values: readonly string[]
  readonly flags: readonly Flag[]
}

/** All commands below a command, itself first. */
export function commandsOf(command: Command, words: readonly string[] = []): readonly CompletedCommand[] {
  const helper = command.createHelp()
  const children = helper.visibleCommands(command)
  const own = {
    words: words.join(' '),
    description: command.description(),
    children: children.map(child => child.name()),
    values: command.registeredArguments[0]?.argChoices ?? [],
    flags: helper.visibleOptions(command).map(flagOf),
  }
  const below = children.flatMap(child => commandsOf(child, [...words, child.name()]))
  return [own, ...below.filter(({ words: each }) => !each.endsWith(' help'))]
}

const flagOf = (option: Option): Flag => ({
  names: [option.short, option.long].filter(name => name !== undefined),
  description: option.description,
  takesValue: option.required || option.optional,
  choices: option.argChoices ?? [],
})
