import assert from 'node:assert/strict'
import { RE2JS } from 're2js'
import { type Random, randomFrom } from '../../test/model/random.ts'
import { maxPatternCost, patternCost } from './patterncost.ts'

const parts =
  '( ) ( (?i) (?: (?P<n> (?-s) (?i: (?) [ ] [^ [] [: [:alpha:] :] {3} {0,7} {2,} {10} {01} {90} {3,200} { } | * + ? \\ \\Q \\E \\pL \\p{Greek} \\p \\x{41} \\x41 \\07 \\) \\] \\[ \\( \\{ \\z \\b \\d ^ $ . - : a b ab é 𝒳'.split(
    ' ',
  )

/** The number of instructions; undefined for a pattern that is not valid. */
function programSize(pattern: string): number | undefined {
  try {
    return RE2JS.compile(pattern).programSize()
  } catch {
    return undefined
  }
}

const randomPattern = ({ number, pick }: Random): string =>
  Array.from({ length: 1 + number(16) }, () => pick(parts)).join('')

describe('the cost of a pattern', () => {
  it('is at least half of its program, whatever the pattern', () => {
    const random = randomFrom(1)
    let valid = 0
    for (let i = 0; i < 50_000; i++) {
      const pattern = randomPattern(random)
      const size = programSize(pattern)
      if (size === undefined) continue
      valid++
      assert.ok(size <= 2 * patternCost(pattern) + 10, `${pattern}: ${size}, ${patternCost(pattern)}`)
    }
    assert.ok(valid > 5_000, String(valid))
  }).timeout(20_000)

  it('is small for patterns of definitions', () => {
    const label = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?'
    assert.ok(patternCost(`^${label}(\\.${label})*$`) < 1_000)
    assert.ok(patternCost(`^(${label}\\.){1,10}${label}$`) < 8_000)
    assert.ok(patternCost('^[\\p{L}\\p{N} ]{1,1000}$') < 5_000)
  })

  it('is that of copies, and of the ranges of classes', () => {
    assert.ok(patternCost('(?:a{30}){30}') > 900)
    assert.ok(patternCost('\\pL'.repeat(200)) > maxPatternCost)
  })
})
