import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/source.ts'

/** A row of rules.md: `| 1.6 | what it is about | `file` › name of a test |`, several tests with `<br>` between, or a choice in italics. */
interface Row {
  readonly rule: string
  readonly tests: readonly string[]
}

const rows: readonly Row[] = readFileSync(join(root, 'test/conformance/rules.md'), 'utf8')
  .split('\n')
  .flatMap(line => {
    const [, rule, tests] = /^\| (\d+\.\d+[a-z]?) \| [^|]+ \| (.+) \|$/.exec(line) ?? []
    return rule === undefined || tests === undefined
      ? []
      : [{ rule, tests: tests.replaceAll('\\|', '|').split('<br>') }]
  })

const chapter = join(root, '../shared/reference/40-kubernetes-api-machinery.md')

/** As text or as a string of TypeScript. */
const has = (source: string, title: string): boolean =>
  source.includes(title) || source.includes(title.replaceAll("'", "\\'"))

function isThere(test: string): boolean {
  if (/^\*.+\*$/.test(test)) return true
  const [, file = '', title = ''] = /^`(.+)` › (.+)$/.exec(test) ?? []
  const path = join(root, file)
  return file !== '' && existsSync(path) && has(readFileSync(path, 'utf8'), title)
}

/** The numbers of the chapter's rules: of paragraphs, of rows of tables, and of the consequences that 5.51 lists by letter. */
function* numbersIn(text: string): Generator<string> {
  let base = ''
  for (const line of text.split('\n')) {
    const [, paragraph, row, letter, next] =
      /^(?:- \*\*(\d+\.\d+[a-z]?)\*\*|\| (\d+\.\d+)([a-z]?) \||\| ([a-z]) \|)/.exec(line) ?? []
    base = paragraph ?? row ?? base
    if (base === '5.51') for (const [, each] of line.matchAll(/ ([a-l])\. /g)) yield `5.51${each}`
    if (paragraph !== undefined && paragraph !== '5.51') yield paragraph
    if (row !== undefined) yield row + letter
    if (next !== undefined) yield base + next
  }
}

describe('rules and their tests', () => {
  it('are each there once, and the tests are there', () => {
    const numbers = rows.map(({ rule }) => rule)
    assert.equal(new Set(numbers).size, numbers.length)
    assert.deepEqual(
      rows.filter(({ tests }) => !tests.every(isThere)),
      [],
    )
  })

  it('are all rules of the chapter and no others, where it is at hand', () => {
    if (!existsSync(chapter)) return
    const asked = new Set(numbersIn(readFileSync(chapter, 'utf8')))
    assert.ok(asked.size > 400)
    const known = new Set(rows.map(({ rule }) => rule))
    assert.deepEqual(
      [...asked].filter(rule => !known.has(rule)),
      [],
    )
    // A row may be about a part of a rule, by a letter that the chapter does not have.
    const isOf = (rule: string): boolean => asked.has(rule) || asked.has(rule.replace(/[a-z]$/, ''))
    assert.deepEqual(
      [...known].filter(rule => !isOf(rule)),
      [],
    )
  })
})
