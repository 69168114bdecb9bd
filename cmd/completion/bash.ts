import type { CompletedCommand, Flag } from './commandtree.ts'

const quoted = (words: readonly string[]): string => `'${words.join(' ').replaceAll("'", '')}'`

/** Moves from a command to a subcommand at a word. */
const transitions = ({ words, children }: CompletedCommand): readonly string[] =>
  children.map(child => {
    const next = words === '' ? child : `${words} ${child}`
    return `      '${words}:${child}') command='${next}' ;;`
  })

/** The values of a flag: its choices, or the names of files. */
const values = ({ words, flags }: CompletedCommand): readonly string[] =>
  flags
    .filter(({ takesValue }) => takesValue)
    .map(
      flag => `    ${flag.names.map(name => `'${words}:${name}'`).join('|')}) ${valuesOf(flag)}; return ;;`,
    )

const valuesOf = ({ choices }: Flag): string =>
  choices.length === 0
    ? 'COMPREPLY=($(compgen -f -- "$current"))'
    : `COMPREPLY=($(compgen -W ${quoted(choices)} -- "$current"))`

const names = ({ words, children, values: first, flags }: CompletedCommand): string => {
  const all = [...children, ...first, ...flags.flatMap(flag => flag.names)]
  return `    '${words}') COMPREPLY=($(compgen -W ${quoted(all)} -- "$current")) ;;`
}

/** The function for bash. A word after a flag with a value is a value, every other one a command or a flag. */
export const bashCompletion = (commands: readonly CompletedCommand[]): string => `_oriel() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command:\${COMP_WORDS[i]}" in
${commands.flatMap(transitions).join('\n')}
    esac
  done
  case "$command:$previous" in
${commands.flatMap(values).join('\n')}
  esac
  case "$command" in
${commands.map(names).join('\n')}
  esac
}
complete -F _oriel oriel
`

/** zsh runs functions of bash. */
export const zshCompletion = (commands: readonly CompletedCommand[]): string => `#compdef oriel
autoload -Uz +X compinit bashcompinit
(( $+functions[compdef] )) || compinit -u
bashcompinit
${bashCompletion(commands)}`
