import { existsSync } from 'node:fs'
import { extname, join } from 'node:path'
import { isSea } from 'node:sea'

/** How `process.execPath` is called. */
interface Invocation {
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/**
 * Another process of this program: the bundle, its sources, or the executable file that this one is. `options` are those of
 * Node.
 */
export function invocation(options: readonly string[], command: readonly string[]): Invocation {
  const { env } = process
  if (isSea()) return { args: command, env: withNodeOptions(env, options) }
  const bundle = join(import.meta.dirname, 'oriel.cjs')
  const extension = extname(import.meta.filename)
  const loader = extension === '.ts' ? ['--import=tsx'] : []
  const program = existsSync(bundle) ? bundle : join(import.meta.dirname, `../main${extension}`)
  return { args: [...options, ...loader, program, ...command], env }
}

/** An executable file passes all its arguments to the program. */
const withNodeOptions = (env: NodeJS.ProcessEnv, options: readonly string[]): NodeJS.ProcessEnv => ({
  ...env,
  NODE_OPTIONS: [env.NODE_OPTIONS ?? '', ...options].join(' ').trim(),
})

/** The settings of `node:cluster` for workers with the arguments of this process; by default the first one is taken for the program. */
export function workerSettings(): { readonly exec?: string; readonly args?: string[] } {
  const [exec = '', ...args] = process.argv.slice(2)
  return isSea() ? { exec, args } : {}
}
