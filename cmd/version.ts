import { readFileSync } from 'node:fs'

/** The version in package.json, which lies above this file, in `dist/` or not. */
export function version(): string {
  const above = import.meta.url.includes('/dist/cmd/') ? '../../package.json' : '../package.json'
  return (JSON.parse(readFileSync(new URL(above, import.meta.url), 'utf8')) as { version: string }).version
}
