import assert from 'node:assert/strict'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readText } from '../support/oriel.ts'
import { root } from '../support/source.ts'
import { places } from './caserows.ts'
import type { Places } from './places.ts'
import { rows } from './rows.ts'

/** A title holds where the file has it, however its quotation marks are written. */
const holds = (text: string, title: string): boolean => plain(text).includes(plain(title))
const plain = (text: string): string => text.replaceAll(/[’']/g, '')

/** Of a file, or of all files of a folder. */
async function textOf(path: string): Promise<string> {
  if (!statSync(path).isDirectory()) return readText(path)
  return (await Promise.all(readdirSync(path).map(name => readText(join(path, name))))).join('\n')
}

async function check(where: Places | undefined): Promise<void> {
  assert.ok(where !== undefined && where.length > 0, 'no test is named')
  if (typeof where === 'string') return
  for (const [file, ...titles] of where) {
    const path = join(root, file)
    assert.ok(existsSync(path), `${file} is gone`)
    const text = await textOf(path)
    for (const title of titles) assert.ok(holds(text, title), `${file} has no test that says: ${title}`)
  }
}

describe('each row of the chapters on authorization and views', () => {
  for (const [section, names] of Object.entries(rows)) {
    for (const row of names) it(`has its tests: ${section} ${row}`, () => check(places[section]?.[row]))

    it(`is a row of the chapter: ${section}`, () =>
      assert.deepEqual(
        Object.keys(places[section] ?? {}).filter(row => !names.includes(row)),
        [],
      ))
  }
})
