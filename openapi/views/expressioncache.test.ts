import assert from 'node:assert/strict'
import type { JSONSchemaProps } from '../../framework/meta/jsonschema.ts'
import { ExpressionCache } from './expressioncache.ts'

const titled = (letter: string): JSONSchemaProps => ({ type: 'object', title: letter.repeat(400) })

describe('the cache of expressions', () => {
  it('finds those about equal schemas', () => {
    const cache = new ExpressionCache<number>(10)
    cache.set(titled('a'), 'x', 1)
    assert.equal(cache.get(titled('a'), 'x'), 1)
    assert.equal(cache.get(titled('a'), 'y'), undefined)
    assert.equal(cache.get(titled('b'), 'x'), undefined)
  })

  it('has a number of them, the last used', () => {
    const cache = new ExpressionCache<number>(2)
    for (const [i, key] of ['x', 'y', 'z'].entries()) cache.set(titled('a'), key, i)
    assert.deepEqual(
      ['x', 'y', 'z'].map(key => cache.get(titled('a'), key)),
      [undefined, 1, 2],
    )
  })

  it('removes all about a schema when those that were used later have too many characters', () => {
    const cache = new ExpressionCache<number>(10, 1_000)
    for (const key of ['x', 'y']) cache.set(titled('a'), key, 1)
    cache.set(titled('b'), 'x', 2)
    assert.equal(cache.get(titled('a'), 'x'), 1)
    cache.set(titled('c'), 'x', 3)
    assert.equal(cache.get(titled('b'), 'x'), undefined)
    cache.set(titled('d'), 'x', 4)
    assert.deepEqual([cache.get(titled('a'), 'x'), cache.get(titled('a'), 'y')], [undefined, undefined])
    assert.equal(cache.get(titled('d'), 'x'), 4)
  })

  it('does not have those about a schema that is too long', () => {
    const cache = new ExpressionCache<number>(10, 100)
    cache.set(titled('a'), 'x', 1)
    assert.equal(cache.get(titled('a'), 'x'), undefined)
  })
})
