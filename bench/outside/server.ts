import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tokenFile } from '../tools/connection.ts'
import { freePort } from '../tools/ports.ts'
import type { Side } from '../tools/sides.ts'

const compiled = import.meta.dirname.endsWith(join('dist', 'bench', 'outside'))

/** The folder of this checkout. */
export const thisCheckout = join(import.meta.dirname, compiled ? '../../..' : '../..')

/** `oriel start` of a built checkout with its embedded store, as users run it; `flags` are more of its flags. */
export async function withOriel<T>(
  checkout: string,
  scratch: string,
  work: (oriel: Side) => Promise<T>,
  flags: readonly string[] = [],
): Promise<T> {
  const port = await freePort()
  const directory = await mkdtemp(join(scratch, 'oriel-'))
  const tokens = join(directory, 'tokens.csv')
  await writeFile(tokens, tokenFile)
  const data = join(directory, 'data')
  const args = [
    'start',
    '--data-directory',
    data,
    '--port',
    String(port),
    '--token-auth-file',
    tokens,
    ...flags,
  ]
  const program = join(checkout, 'dist/bundle/oriel.cjs')
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    // The banner is printed when the server is ready.
    await Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(([code]) => Promise.reject(new Error(`oriel start ended with ${code}`))),
    ])
    const ca = await readFile(join(data, 'ca.crt'), 'utf8')
    return await work({ address: { port, ca }, pid: child.pid ?? 0 })
  } finally {
    child.kill()
    if (child.exitCode === null) await once(child, 'exit')
  }
}
