import assert from 'node:assert/strict'
import { lazyPattern, patternError } from './pattern.ts'

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
