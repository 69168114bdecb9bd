import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Build } from '../../framework/contract/version.ts'

/** Version and date of this build; the commit is unknown. */
export const build = (): Build => ({
  version: version(),
  commit: '',
  date: statSync(import.meta.filename)
    .mtime.toISOString()
    .replace(/\.\d+Z$/, 'Z'),
})

/** The version in the package.json above this file, whether it runs as TypeScript, compiled or in the bundle. */
export const version = (): string =>
  (JSON.parse(readFileSync(packageAbove(import.meta.dirname), 'utf8')) as { version: string }).version

function packageAbove(folder: string): string {
  const path = join(folder, 'package.json')
  return existsSync(path) ? path : packageAbove(dirname(folder))
}
