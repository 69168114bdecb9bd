import type { Command } from 'commander'

/** Views of one's own. */
export interface ViewOptions {
  readonly view?: readonly string[]
}

/** Adds the flag to a command. */
export const viewFlag = (command: Command): Command =>
  command.option(
    '--view <file>',
    'a view of your own, a JavaScript module; may be given several times',
    (file: string, before: readonly string[] = []) => [...before, file],
  )
