import { forEachChild, parse, type Script, type SyntaxNode } from 'unbash'

/** A simple command of a shell script. */
export interface ShellCommand {
  /** The program and its arguments, without quotes; variables are not expanded: `$ORIEL/clusters/root`. */
  readonly words: readonly string[]
  /** `KCP_BIN` of `KCP_BIN=/path npm test`. */
  readonly variables: readonly string[]
}

/**
 * The commands of a script, also those in loops, functions and substitutions. What is called by the name of a function of the
 * script has the words of the first command of that function: `robot get pods` is `kubectl --token … get pods`.
 * Throws an `Error` with the problem for scripts that no shell accepts.
 */
export function commandsOf(script: string): readonly ShellCommand[] {
  const parsed = parse(script)
  const [problem] = parsed.errors ?? []
  if (problem !== undefined) throw new Error(`${problem.message} at '${script.slice(problem.pos)}'`)
  const functions = functionsOf(parsed)
  return simpleCommands(parsed).map(({ words: [name = '', ...others], variables }) => ({
    words: [...(functions.get(name) ?? [name]), ...others],
    variables,
  }))
}

function simpleCommands(node: SyntaxNode): readonly ShellCommand[] {
  const found: ShellCommand[] = []
  if (node.type === 'Command' && node.name !== undefined) {
    const words = [node.name, ...node.args.filter(each => each.type === 'Word')].map(({ value }) => value)
    const variables = node.prefix.flatMap(each => (each.type === 'Assignment' ? [each.name] : []))
    found.push({ words, variables })
  }
  for (const child of childrenOf(node)) found.push(...simpleCommands(child))
  return found
}

function functionsOf(node: Script): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  const visit = (each: SyntaxNode): void => {
    if (each.type === 'Function') {
      const words = simpleCommands(each.body)[0]?.words ?? []
      found.set(
        each.name.value,
        words.filter(word => word !== '$@'),
      )
    }
    for (const child of childrenOf(each)) visit(child)
  }
  visit(node)
  return found
}

function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const children: SyntaxNode[] = []
  forEachChild(node, child => void children.push(child))
  return children
}
