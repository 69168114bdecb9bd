import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/source.ts'

/** A row of rules.md: `| 1.6 | what it is about | `file` › name of a test |`, or a choice in italics. */
interface Row {
  readonly rule: string
  readonly test: string
}

const rows: readonly Row[] = readFileSync(join(root, 'test/conformance/rules.md'), 'utf8')
  .split('\n')
  .flatMap(line => {
    const [, rule, test] = /^\| (\d+\.\d+[a-z]?) \| [^|]+ \| (.+) \|$/.exec(line) ?? []
    return rule === undefined || test === undefined ? [] : [{ rule, test: test.replaceAll('\\|', '|') }]
  })

const chapter = join(root, '../shared/reference/40-kubernetes-api-machinery.md')

/** As text or as a string of TypeScript. */
const has = (source: string, title: string): boolean =>
  source.includes(title) || source.includes(title.replaceAll("'", "\\'"))

function isThere({ test }: Row): boolean {
  if (/^\*.+\*$/.test(test)) return true
  const [, file = '', title = ''] = /^`(.+)` › (.+)$/.exec(test) ?? []
  const path = join(root, file)
  return file !== '' && existsSync(path) && has(readFileSync(path, 'utf8'), title)
}

describe('rules and their tests', () => {
  it('are in order, each once, and the tests are there', () => {
    const numbers = rows.map(({ rule }) => rule)
    assert.equal(new Set(numbers).size, numbers.length)
    assert.deepEqual(
      rows.filter(row => !isThere(row)),
      [],
    )
  })

  it('are all rules of the chapter, where it is at hand', () => {
    const known = new Set(rows.map(({ rule }) => rule))
    const text = existsSync(chapter) ? readFileSync(chapter, 'utf8') : ''
    const asked = [...text.matchAll(/^- \*\*(\d+\.\d+[a-z]?)\*\*/gm)].map(([, rule = '']) => rule)
    assert.deepEqual(
      asked.filter(rule => !known.has(rule)),
      [],
    )
  })
})
