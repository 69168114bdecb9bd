import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { mixedText } from '../testing/mixedtext.ts'
import { CompiledPattern, compilePattern, lazyPattern, patternError } from './pattern.ts'

const patternTest = (source: string) => lazyPattern(source).test

describe('pattern', () => {
  it('searches unanchored, with RE2 syntax', () => {
    assert.equal(patternTest('b+')('abbc'), true)
    assert.equal(patternTest('^b+$')('abbc'), false)
    assert.equal(patternTest('(?i)^ABC\\z')('abc'), true)
    assert.equal(patternTest('^\\pL+$')('äß'), true)
  })

  it('has Go’s error texts', () => {
    assert.equal(patternError('a*'), undefined)
    assert.equal(patternError('[a'), 'error parsing regexp: missing closing ]: `[a`')
    assert.equal(patternError('(?=a)'), 'error parsing regexp: invalid or unsupported Perl syntax: `(?=`')
    assert.equal(patternError('(?:a{1000})'.repeat(900)), 'error parsing regexp: expression too large')
  })

  it('matches nothing when the pattern is broken', () => assert.equal(patternTest('[a')('[a'), false))

  it('does not blow up on nested repetition', () =>
    assert.equal(patternTest('^(a+)+$')(`${'a'.repeat(100_000)}b`), false))
})

/** Bytes, after a collection of the garbage. */
function usedHeap(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

const mega = 1024 * 1024

describe('the memory of compiled patterns', () => {
  const text = mixedText(2_000, 0)

  function compiled(source: string): CompiledPattern {
    const made = compilePattern(source)
    assert.ok(made instanceof CompiledPattern)
    return made
  }

  it('is less than a megabyte for each, whatever it was tested with', () => {
    for (let i = 0; i < 20; i++) {
      const pattern = compiled(`a[ab]{${i + 100}}[cd]`)
      assert.equal(pattern.test(text), false)
      assert.ok(pattern.bytes > 0.4 * mega && pattern.bytes < 0.6 * mega, String(pattern.bytes))
    }
  })

  it('is limited for all of them: those used last are kept', () => {
    const patterns = Array.from({ length: 450 }, (_, i) => compiled(`a[ab]{150}[cd${i}]`))
    for (const pattern of patterns) pattern.test(text.slice(0, 500))
    const isKept = (pattern: CompiledPattern | undefined) => compilePattern(pattern?.source ?? '') === pattern
    assert.deepEqual([isKept(patterns.at(-1)), isKept(patterns[0])], [true, false])
  }).timeout(20_000)

  it('is that of the states, as re2js counts them', () => {
    const patterns = Array.from({ length: 40 }, (_, i) => new CompiledPattern(`a[ab]{${i + 60}}[cd]`))
    const before = usedHeap()
    for (const pattern of patterns) pattern.test(text)
    assert.ok(usedHeap() - before < 30 * mega)
    assert.ok(patterns.every(({ bytes }) => bytes > 0))
  })
})
