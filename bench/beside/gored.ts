import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { root } from '../../test/support/source.ts'

const framework = 'staging/src/github.com/kcp-dev/virtual-workspace-framework'

/** The program of red.go. */
export interface GoRed {
  readonly program: string
  /** Seconds of the build, after one that filled the cache of Go. */
  readonly seconds: number
}

/**
 * Builds red.go in the module of kcp's framework, whose source is `KCP_SOURCE`; nothing is written there. Returns why not, when there
 * is no source, no Go, or no module.
 */
export async function buildGoRed(scratch: string): Promise<GoRed | string> {
  const source = process.env.KCP_SOURCE
  if (source === undefined) return 'KCP_SOURCE is not the directory of the source of kcp'
  const program = join(scratch, 'red')
  const overlay = join(scratch, 'overlay.json')
  const place = join(source, framework, 'orielbench')
  const files = { [join(place, 'main.go')]: join(root, 'bench/beside/red.go') }
  await writeFile(overlay, JSON.stringify({ Replace: files }))
  const build = () =>
    promisify(execFile)('go', ['build', '-overlay', overlay, '-o', program, './orielbench'], {
      cwd: join(source, framework),
    })
  try {
    await build()
    const begin = performance.now()
    await build()
    return { program, seconds: (performance.now() - begin) / 1_000 }
  } catch (error) {
    return `go build failed: ${String((error as { stderr?: string }).stderr || error).slice(0, 300)}`
  }
}

/** Starts the view in front of a server; `stop` ends it. */
export async function startGoRed(
  { program }: GoRed,
  { url, token }: { readonly url: string; readonly token: string },
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const child = spawn(program, ['-server', url, '-token', token], { stdio: ['ignore', 'ignore', 'pipe'] })
  for await (const line of createInterface(child.stderr)) {
    if (!line.startsWith('http://')) continue
    child.stderr.resume()
    const stop = async (): Promise<void> => {
      child.kill()
      await once(child, 'exit')
    }
    return { url: line, stop }
  }
  throw new Error(`red.go ended with code ${child.exitCode}`)
}
