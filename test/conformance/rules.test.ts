import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isThere } from '../support/citations.ts'
import { readTexts, root } from '../support/source.ts'

/** A row of rules.md: ``| 1.6 | the rule | `file` › title of a test |``, several tests with `<br>` between, or a reason in italics. */
interface Row {
  readonly rule: string
  readonly text: string
  readonly tests: readonly string[]
}

const rows: readonly Row[] = readFileSync(join(root, 'test/conformance/rules.md'), 'utf8')
  .split('\n')
  .flatMap(line => {
    const [, rule, text, tests] = /^\| (\d+\.\d+[a-z]?) \| ([^|]+) \| (.+) \|$/.exec(line) ?? []
    return rule === undefined || text === undefined || tests === undefined
      ? []
      : [{ rule, text, tests: tests.replaceAll('\\|', '|').split('<br>') }]
  })

/** The rules that the repository's files cite as `rules.md 4.17`; 4.7 also stands for all of 4.7a to 4.7h. */
const citations = (): readonly string[] =>
  readTexts(['.ts', '.md', '.mjs']).flatMap(({ text }) =>
    [...text.matchAll(/rules\.md (\d+\.\d+[a-z]?)/g)].map(([, rule = '']) => rule),
  )

describe('rules and their tests', () => {
  const numbers = new Set(rows.map(({ rule }) => rule))

  it('are unique, and their tests exist', () => {
    assert.ok(rows.length > 500)
    assert.equal(numbers.size, rows.length)
    assert.deepEqual(
      rows.filter(({ tests }) => !tests.every(isThere)),
      [],
    )
  })

  it('are sentences', () => {
    assert.deepEqual(
      rows.filter(({ text }) => !/^\S.{15,}[.`]$/.test(text)),
      [],
    )
  })

  it('exist when they are cited', () => {
    const isKnown = (rule: string): boolean => numbers.has(rule) || numbers.has(`${rule}a`)
    assert.deepEqual(
      citations().filter(rule => !isKnown(rule)),
      [],
    )
  })
})
