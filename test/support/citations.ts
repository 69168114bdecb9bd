import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './source.ts'

/** As text or as a string of TypeScript. */
const has = (source: string, title: string): boolean =>
  source.includes(title) || source.includes(title.replaceAll("'", "\\'"))

/** Whether a test, cited as `` `file` › title ``, exists; a reason in italics stands for a test. */
export function isThere(test: string): boolean {
  if (/^\*.+\*$/.test(test)) return true
  const [, file = '', title = ''] = /^`(.+)` › (.+)$/.exec(test) ?? []
  const path = join(root, file)
  return file !== '' && existsSync(path) && has(readFileSync(path, 'utf8'), title)
}
