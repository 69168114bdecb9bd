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

/**
 * The version in the package.json above this file, whether it runs as TypeScript, compiled or in the bundle; `unknown` for a
 * program that was copied out of its package.
 */
export const version = (): string => versionAbove(import.meta.dirname)

/** The version in the closest package.json above a directory, or `unknown`. */
export function versionAbove(directory: string): string {
  const found = packageAbove(directory)
  if (found === undefined) return 'unknown'
  return (JSON.parse(readFileSync(join(found, 'package.json'), 'utf8')) as { version: string }).version
}

/** The closest directory with a package.json, at or above a directory. */
export function packageAbove(directory: string): string | undefined {
  if (existsSync(join(directory, 'package.json'))) return directory
  const parent = dirname(directory)
  return parent === directory ? undefined : packageAbove(parent)
}
