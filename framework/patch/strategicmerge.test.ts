import assert from 'node:assert/strict'
import fc from 'fast-check'
import { canonicalJson, Work } from '../json/json.ts'
import { StatusError } from '../meta/errors.ts'
import type { MergeSchema } from '../meta/mergeschema.ts'
import { wholeSchema } from '../meta/objectmeta.ts'
import {
  applyStrategicMergePatch,
  applyStrategicMergePatchSteps,
  readStrategicMergePatch,
} from './strategicmerge.ts'

const text: MergeSchema = { type: 'string' }
const byName: MergeSchema = {
  type: 'array',
  items: {
    type: 'object',
    properties: { name: text, ports: { type: 'array', 'x-kubernetes-patch-strategy': 'merge' } },
  },
  'x-kubernetes-patch-strategy': 'merge,retainKeys',
  'x-kubernetes-patch-merge-key': 'name',
}
const schema = wholeSchema({
  properties: {
    data: { type: 'object', additionalProperties: text },
    list: { type: 'array', items: text },
    items: byName,
    whole: { type: 'object', 'x-kubernetes-patch-strategy': 'replace' },
    lost: { type: 'array', items: { type: 'object' }, 'x-kubernetes-patch-strategy': 'merge' },
  },
})
const patch = (document: object, change: object): unknown =>
  applyStrategicMergePatch({ ...document }, { ...change }, schema)

const named = (...names: readonly string[]): readonly object[] => names.map(name => ({ name }))
const finalizers = (...all: readonly string[]): object => ({ metadata: { finalizers: all } })

describe('strategic merge patch', () => {
  const cases: readonly [name: string, document: object, change: object, result: object][] = [
    [
      'merges maps, and null deletes',
      { data: { a: '1', b: '2' } },
      { data: { a: null, c: '3' } },
      { data: { b: '2', c: '3' } },
    ],
    ['strips nulls of what is new', {}, { data: { a: null, b: '2' } }, { data: { b: '2' } }],
    ['replaces lists without a strategy', { list: ['a'] }, { list: ['b'] }, { list: ['b'] }],
    [
      'replaces objects with the strategy replace',
      { whole: { a: 1 } },
      { whole: { b: 2 } },
      { whole: { b: 2 } },
    ],
    ['adds to sets', finalizers('a/b'), finalizers('c/d', 'a/b'), finalizers('c/d', 'a/b')],
    [
      'deletes from sets',
      finalizers('x/y', 'c/d'),
      { metadata: { finalizers: ['e/f'], '$deleteFromPrimitiveList/finalizers': ['x/y'] } },
      finalizers('e/f', 'c/d'),
    ],
    [
      'merges owners by uid',
      { metadata: { ownerReferences: [{ uid: '1', name: 'a' }] } },
      { metadata: { ownerReferences: [{ uid: '1', kind: 'K' }, { uid: '2' }] } },
      { metadata: { ownerReferences: [{ uid: '1', name: 'a', kind: 'K' }, { uid: '2' }] } },
    ],
    [
      'deletes an item by its key',
      { items: named('a', 'b') },
      { items: [{ $patch: 'delete', name: 'a' }, { name: 'c' }] },
      { items: named('c', 'b') },
    ],
    [
      'replaces a list by $patch',
      { items: named('a', 'b') },
      { items: [{ name: 'c' }, { $patch: 'replace' }] },
      { items: named('c') },
    ],
    [
      'replaces an object by $patch',
      { data: { a: '1' } },
      { data: { $patch: 'replace', b: '2' } },
      { data: { b: '2' } },
    ],
    ['empties an object by $patch', { data: { a: '1' } }, { data: { $patch: 'delete' } }, { data: {} }],
    [
      'drops directives for missing fields',
      {},
      { data: { $patch: 'delete' }, items: [{ $patch: 'delete', name: 'a' }] },
      { items: [] },
    ],
    [
      'retains the keys that are named',
      { list: [], data: { a: '1' } },
      { $retainKeys: ['data'], data: { b: '2' } },
      { data: { a: '1', b: '2' } },
    ],
    [
      'orders lists as $setElementOrder says, others keep their neighbours',
      { items: named('a', 'x', 'b', 'y') },
      { '$setElementOrder/items': named('b', 'a', 'c'), items: named('c') },
      { items: named('x', 'b', 'a', 'c', 'y') },
    ],
    [
      'orders scalars',
      finalizers('e/f', 'c/d'),
      { metadata: { finalizers: ['x/y'], '$setElementOrder/finalizers': ['x/y', 'e/f'] } },
      finalizers('x/y', 'e/f', 'c/d'),
    ],
    ['replaces a value of another type', { data: { a: '1' } }, { data: ['x'] }, { data: ['x'] }],
  ]
  for (const [name, document, change, result] of cases) {
    it(name, () => assert.equal(canonicalJson(patch(document, change)), canonicalJson(result)))
  }

  // Texts are those of kcp.
  const bad: readonly [name: string, document: object, change: object, code: number, message: string][] = [
    [
      'unknown directives',
      { metadata: {} },
      { metadata: { $patch: 'foo' } },
      500,
      'unknown patch type: foo in map: map[$patch:foo]',
    ],
    [
      'orders that the patch itself does not follow',
      finalizers('c/d'),
      { metadata: { finalizers: ['e/f', 'x/y'], '$setElementOrder/finalizers': ['x/y', 'e/f'] } },
      500,
      "The order in patch list:\n[e/f x/y]\n doesn't match $setElementOrder list:\n[x/y e/f]\n",
    ],
    [
      'mixed lists',
      finalizers('x/y'),
      { metadata: { finalizers: [3] } },
      500,
      'list element types are not identical: [[x/y] [3]]',
    ],
    [
      'retainKeys without the patched keys',
      {},
      { $retainKeys: ['metadata'], data: {} },
      400,
      'invalid patch format of retainKeys',
    ],
    [
      'orders that are no lists',
      {},
      { '$setElementOrder/items': 3 },
      500,
      'expected a []interface {}, but received a int64',
    ],
    [
      'directives without a field',
      {},
      { $setElementOrderitems: [] },
      400,
      'invalid patch format of setElementOrder list',
    ],
    [
      'deletions without a field',
      {},
      { $deleteFromPrimitiveList: [] },
      400,
      'invalid patch format of primitive list',
    ],
    [
      'items without their key',
      { items: [] },
      { items: [{ a: 1 }] },
      500,
      'map: map[a:1] does not contain declared merge key: name',
    ],
    [
      'lists without a key',
      { lost: [] },
      { lost: [{ a: 1 }] },
      500,
      'cannot merge lists without merge key for struct',
    ],
    [
      'lists of lists',
      finalizers(),
      { metadata: { finalizers: [['a']] } },
      422,
      'the server rejected our request due to an error in our request',
    ],
  ]
  for (const [name, document, change, code, message] of bad) {
    it(`refuses ${name}`, () =>
      assert.throws(
        () => patch(document, change),
        (error: unknown) => error instanceof StatusError && error.code === code && error.message === message,
      ))
  }

  const many = (name: string): readonly string[] => Array.from({ length: 10_000 }, (_, i) => `${name}${i}`)
  const keyed = many('a').map(name => ({ name }))
  const large: readonly [name: string, document: object, change: object][] = [
    ['sets', finalizers(...many('a')), finalizers(...many('b'))],
    [
      'deletions from sets',
      finalizers(...many('a')),
      { metadata: { '$deleteFromPrimitiveList/finalizers': many('a') } },
    ],
    [
      'orders',
      finalizers(...many('a')),
      { metadata: { finalizers: many('a'), '$setElementOrder/finalizers': many('a') } },
    ],
    ['lists with keys', { items: keyed }, { items: keyed }],
    [
      'maps',
      { data: Object.fromEntries(many('a').map(key => [key, ''])) },
      { data: Object.fromEntries(many('b').map(key => [key, ''])) },
    ],
    ['new lists', {}, { items: keyed }],
  ]
  for (const [name, document, change] of large)
    it(`merges large ${name} in steps`, () => {
      const steps = applyStrategicMergePatchSteps({ ...document }, { ...change }, schema, new Work())
      const count = [...steps].length
      assert.ok(count >= 10_000 / 256, `${count} steps`)
    })

  it('refuses other values than objects', () =>
    assert.throws(() => readStrategicMergePatch([]), {
      message: 'json: cannot unmarshal array into Go value of type map[string]interface {}',
    }))

  it('keeps __proto__ an ordinary member', () => {
    const change = JSON.parse('{"__proto__":{"polluted":true}}')
    assert.equal(canonicalJson(patch({}, change)), '{"__proto__":{"polluted":true}}')
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false)
  })

  const scalar = fc.constantFrom<unknown>(null, true, 1, 'a', 'b', 'delete', 'replace')
  const { value } = fc.letrec<{ value: unknown }>(tie => ({
    value: fc.oneof(
      { maxDepth: 3 },
      scalar,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom(
          'name',
          'data',
          'items',
          'list',
          '$patch',
          '$setElementOrder/items',
          '$deleteFromPrimitiveList/list',
          '$retainKeys',
        ),
        tie('value'),
        { maxKeys: 4, noNullPrototype: true },
      ),
    ),
  }))
  const members = fc.dictionary(
    fc.constantFrom('data', 'items', 'list', '$setElementOrder/items', 'metadata'),
    value,
    {
      noNullPrototype: true,
    },
  )

  it('fails only with a Status, and modifies no input', () => {
    fc.assert(
      fc.property(members, members, (document, change) => {
        const before = canonicalJson([document, change])
        try {
          patch(document, change)
        } catch (error) {
          assert.ok(error instanceof StatusError, String(error))
        }
        assert.equal(canonicalJson([document, change]), before)
      }),
      { numRuns: 1000 },
    )
  })
})
