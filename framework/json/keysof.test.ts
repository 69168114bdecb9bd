import assert from 'node:assert/strict'
import fc from 'fast-check'
import { atOnce, canonical, parseExact } from './json.ts'
import { parseJsonSteps } from './jsonsteps.ts'
import { hasManyKeys, keepKeys, keysOf } from './values.ts'

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `k${count - i}`)
const objectOf = (keys: readonly string[]) => Object.fromEntries(keys.map(key => [key, 1]))

describe('the keys of an object', () => {
  it('are those of Object.keys, whether they are kept or not', () => {
    const key = fc.oneof(fc.string(), fc.nat(20).map(String), fc.constant('__proto__'))
    fc.assert(
      fc.property(fc.uniqueArray(key), more => {
        for (const keys of [more, [...more, ...names(600)], [...new Set([...names(600), ...more])]]) {
          const object = objectOf(keys)
          keepKeys(object, keys)
          assert.deepEqual(keysOf(object), Object.keys(object))
        }
      }),
    )
  })

  it('are kept for large objects that are read, in the order of Object.keys', () => {
    for (const more of ['"7":1', '"k3":2', '"z":1']) {
      const text = JSON.stringify(objectOf(names(2_000))).replace('}', `,${more}}`)
      for (const object of [parseExact(text), atOnce(parseJsonSteps(text))] as readonly object[]) {
        assert.deepEqual(keysOf(object), Object.keys(object))
        assert.deepEqual(canonical(object), canonical(JSON.parse(text)))
        assert.equal(hasManyKeys(object), more !== '"7":1')
      }
    }
  })

  it('cannot be added to a large object whose keys are kept: they would be lost', () => {
    const object: Record<string, unknown> = objectOf(names(600))
    keepKeys(object, names(600))
    assert.throws(() => {
      object.added = 1
    }, TypeError)
  })
})
