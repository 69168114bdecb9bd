import type { CompletedCommand, Flag } from './commandtree.ts'

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** Whether the words before the cursor select a command. */
const condition = (words: string): string => `-n ${quoted(`test (__oriel_command) = "${words}"`)}`

const flagLine = (words: string, { names, description, takesValue, choices }: Flag): string => {
  const spellings = names.map(name => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
  const value = choices.length > 0 ? `-x -a ${quoted(choices.join(' '))}` : takesValue ? '-r' : ''
  return ['complete -c oriel', condition(words), ...spellings, value, `-d ${quoted(description)}`]
    .filter(part => part !== '')
    .join(' ')
}

function linesOf({ words, children, values, flags }: CompletedCommand, all: readonly CompletedCommand[]) {
  const descriptionOf = (name: string): string =>
    all.find(each => each.words === `${words} ${name}`.trim())?.description ?? ''
  const below = children.map(
    name => `complete -c oriel -f ${condition(words)} -a ${quoted(name)} -d ${quoted(descriptionOf(name))}`,
  )
  const first = values.map(value => `complete -c oriel -f ${condition(words)} -a ${quoted(value)}`)
  return [...below, ...first, ...flags.map(flag => flagLine(words, flag))]
}

/** The completions for fish. */
export const fishCompletion = (commands: readonly CompletedCommand[]): string => `function __oriel_command
  set -l command ''
  for word in (commandline -opc)[2..]
    switch "$command $word"
${commands
  .flatMap(({ words, children }) =>
    children.map(child => {
      const next = `${words} ${child}`.trim()
      return `      case ${quoted(`${words} ${child}`)}\n        set command ${quoted(next)}`
    }),
  )
  .join('\n')}
    end
  end
  echo "$command"
end
complete -c oriel -e
${commands.flatMap(each => linesOf(each, commands)).join('\n')}
`
