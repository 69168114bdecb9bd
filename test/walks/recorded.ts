import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from '../support/source.ts'

const dist = join(root, 'dist')
/** Whether the program is compiled: V8 reports the files that Node loads. */
export const isCompiled = existsSync(join(dist, 'cmd/main.js'))

/** A compiled program in a separate process, which reports the files whose functions ran. */
export class RecordedProgram {
  readonly child: ChildProcess
  #output = ''

  constructor(module: string, args: readonly string[]) {
    const recorder = join(dist, 'test/walks/recorder.js')
    const program = ['--import', recorder, join(dist, module), ...args]
    this.child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on('data', chunk => {
        this.#output += chunk.toString()
      })
  }

  /** The first match of `pattern` in the output of the program. Rejects when it ends before. */
  async printed(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.#output)
      if (found !== null) return found[0]
      if (this.child.exitCode !== null) throw new Error(`the program ended: ${this.#output}`)
      await Promise.race([once(this.child.stdout ?? this.child, 'data'), once(this.child, 'exit')])
    }
  }

  /** Sends a message and waits for the reply that has the member. Rejects when the program ends before. */
  async ask<T>(message: string | undefined, member: string): Promise<T> {
    const answer = this.#answer(member)
    if (message !== undefined) this.child.send(message)
    return answer as Promise<T>
  }

  #answer(member: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error(`the program ended: ${this.#output}`))
      const read = (answer: unknown): void => {
        if (typeof answer !== 'object' || answer === null || !(member in answer)) return
        this.child.off('message', read)
        this.child.off('exit', ended)
        resolve((answer as Record<string, unknown>)[member])
      }
      this.child.on('message', read)
      this.child.once('exit', ended)
    })
  }

  /** The source files whose functions ran since the last call, sorted: `framework/server/serve.ts`. */
  async take(): Promise<readonly string[]> {
    const urls = await this.ask<readonly string[]>('take', 'files')
    return urls.flatMap(sourceOf).sort()
  }

  /** The same, after nothing has run between two calls: work after the response is done. */
  async takeAll(): Promise<readonly string[]> {
    const files = new Set<string>()
    for (;;) {
      const more = await this.take()
      if (more.length === 0) return [...files].sort()
      for (const file of more) files.add(file)
    }
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return
    const exit = once(this.child, 'exit')
    this.child.kill('SIGTERM')
    await exit
  }
}

/** The source of a compiled file; undefined for packages, tests and files of Node. */
function sourceOf(url: string): readonly string[] {
  if (!url.startsWith('file:')) return []
  const path = relative(dist, fileURLToPath(url))
  const isOther = path.startsWith('..') || path.startsWith('test/') || path.includes('/testing/')
  return isOther ? [] : [path.replace(/\.js$/, '.ts')]
}

/**
 * The files that ran in each of several runs: files that ran in one by chance, such as a timer's, are not part of the
 * walk.
 */
export async function ranEachTime(run: () => Promise<readonly string[]>): Promise<readonly string[]> {
  let files = await run()
  for (let i = 0; i < 2; i++) {
    const again = new Set(await run())
    files = files.filter(file => again.has(file))
  }
  return files
}
