import { readFileSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { Build } from '../framework/version.ts'

/** What this build is. Made from a package, it does not know its commit. */
export const build = (): Build => ({
  version: version(),
  commit: '',
  date: statSync(import.meta.filename)
    .mtime.toISOString()
    .replace(/\.\d+Z$/, 'Z'),
})

/** The version in package.json, which lies above this file: above `cmd/`, or above a folder of `dist/`. */
export function version(): string {
  const above = import.meta.dirname.includes(`${sep}dist${sep}`) ? '../..' : '..'
  const text = readFileSync(join(import.meta.dirname, above, 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
