import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []

process.once('exit', () => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true })
})

/** Creates a directory for files of tests, which is removed when their process ends. */
export async function temporaryDirectory(name: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), `oriel-${name}-`))
  made.push(directory)
  return directory
}
