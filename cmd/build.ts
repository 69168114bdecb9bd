import { readFileSync, statSync } from 'node:fs'
import type { Build } from '../framework/version.ts'

/** What this build is. Made from a package, it does not know its commit. */
export const build = (): Build => ({
  version: version(),
  commit: '',
  date: statSync(new URL(import.meta.url))
    .mtime.toISOString()
    .replace(/\.\d+Z$/, 'Z'),
})

/** The version in package.json, which lies above this file, in `dist/` or not. */
export function version(): string {
  const above = import.meta.url.includes('/dist/cmd/') ? '../../package.json' : '../package.json'
  return (JSON.parse(readFileSync(new URL(above, import.meta.url), 'utf8')) as { version: string }).version
}
