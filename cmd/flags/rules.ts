import type { Command } from 'commander'
import { StartError } from '../files/starterror.ts'

/** What a command line has for the flags of a command, which have their long names, such as `--port`. */
export interface GivenFlags {
  /** Whether the command line has the flag; one with the value false counts as absent. */
  has(flag: string): boolean
  /** The value of the flag, or its default. */
  value(flag: string): unknown
}

/** The sentence that says what to change in a command line; undefined for one that is accepted. */
type FlagRule = (given: GivenFlags) => string | undefined

/** Adds a rule to a command, which throws `StartError` with the sentence of the rule before it runs. */
export const addRule = (command: Command, rule: FlagRule): Command =>
  command.hook('preAction', () => {
    const problem = rule(givenTo(command))
    if (problem !== undefined) throw new StartError(problem)
  })

/** The command refuses each of `flags` without one of `needed`, because it has no effect then. */
export const flagsNeed = (command: Command, flags: readonly string[], ...needed: string[]): Command =>
  addRule(command, ({ has }) => {
    const flag = needed.some(has) ? undefined : flags.find(has)
    if (flag === undefined) return undefined
    const change = needed.length === 1 ? needed[0] : 'one of them'
    return `${flag} has no effect without ${needed.join(' or ')}: add ${change}, or remove ${flag}.`
  })

/** The command refuses one of two flags without the other. */
export const flagsBelongTogether = (command: Command, first: string, second: string): Command =>
  addRule(command, ({ has }) =>
    has(first) === has(second)
      ? undefined
      : `${first} and ${second} must be specified together: add the missing one.`,
  )

/** Throws `StartError` for a flag with an empty value: commands would take it for the name of a file or a server. */
export function refuseEmptyFlags(command: Command): void {
  const found = command.options.find(option => isEmpty(command.getOptionValue(option.attributeName())))
  if (found !== undefined)
    throw new StartError(`${found.long} is empty: give it a value, or remove ${found.long}.`)
}

const isEmpty = (value: unknown): boolean => value === '' || (Array.isArray(value) && value.includes(''))

function givenTo(command: Command): GivenFlags {
  const nameOf = (flag: string): string => {
    const option = command.options.find(({ long }) => long === flag)
    if (option === undefined) throw new Error(`${command.name()} has no flag ${flag}`)
    return option.attributeName()
  }
  return {
    has: flag => {
      const source = command.getOptionValueSource(nameOf(flag))
      return source !== undefined && source !== 'default' && command.getOptionValue(nameOf(flag)) !== false
    },
    value: flag => command.getOptionValue(nameOf(flag)),
  }
}
