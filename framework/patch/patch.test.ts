import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createPatch } from 'rfc6902'
import { canonicalJson, parseExact } from '../json/json.ts'
import { keysOf } from '../json/values.ts'
import { StatusError } from '../meta/errors.ts'
import { applyJsonPatch, applyJsonPatchSteps, readJsonPatch } from './jsonpatch.ts'
import { applyMergePatch, readMergePatch } from './mergepatch.ts'

const patch = (document: unknown, operations: unknown): unknown =>
  applyJsonPatch(document, readJsonPatch(operations))

const code = (run: () => unknown): number => {
  try {
    run()
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error))
    return error.code
  }
  return 200
}

// Ordinary member names only: the oracle reads inherited members.
const key = fc.constantFrom('a', 'b', 'c', '0', 'a/b', 'm~n', '')
const { document } = fc.letrec<{ document: unknown }>(tie => ({
  document: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(null, true, 0, 1, 'x'),
    fc.array(tie('document'), { maxLength: 3 }),
    fc.dictionary(key, tie('document'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))
const members = fc.dictionary(key, document, { maxKeys: 4, noNullPrototype: true })

describe('JSON patch', () => {
  it('adds to a large map whose keys are kept, also when it was looked at', () => {
    const map = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`k${i}`, '']))
    const document = parseExact(JSON.stringify({ map }))
    const copies = Array.from({ length: 600 }, (_, i) => ({
      op: 'copy',
      from: '/map/k1',
      path: `/map/c${i}`,
    }))
    const added = [
      { op: 'test', path: '/map', value: map },
      { op: 'add', path: '/map/added', value: 1 },
      ...copies,
    ]
    const patched = applyJsonPatch(document, readJsonPatch(added)) as { readonly map: object }
    assert.deepEqual(new Set(keysOf(patched.map)), new Set(Object.keys(patched.map)))
    assert.equal(keysOf(patched.map).length, 2_601)
  })

  it('is applied one operation in a step', () => {
    const operations = Array.from({ length: 100 }, (_, i) => ({ op: 'copy', from: '/a', path: `/b${i}` }))
    const steps = [...applyJsonPatchSteps({ a: { b: 1 } }, readJsonPatch(operations))]
    assert.equal(steps.length, 100)
  })

  it('compares a large value in steps', () => {
    const value = Array.from({ length: 20_000 }, (_, i) => i)
    const cloning = [...applyJsonPatchSteps({ a: value }, readJsonPatch([]))].length
    const operations = [{ op: 'test', path: '/a', value: [...value] }]
    const steps = [...applyJsonPatchSteps({ a: value }, readJsonPatch(operations))].length
    assert.ok(steps > 1.9 * cloning, `${steps} steps, ${cloning} of them to copy the document`)
  })

  it('transforms any object into any other with the oracle’s patch', () => {
    fc.assert(
      fc.property(members, members, (from, to) => {
        const before = canonicalJson(from)
        assert.equal(canonicalJson(patch(from, createPatch(from, to))), canonicalJson(to))
        assert.equal(canonicalJson(from), before, 'the document was modified')
      }),
    )
  })

  it('fails only with a Status', () => {
    const path = fc
      .array(fc.constantFrom('a', 'b', '0', '1', '-', '__proto__', 'toString', 'length'), { maxLength: 3 })
      .map(tokens => tokens.map(token => `/${token}`).join(''))
    const op = fc.constantFrom('add', 'replace', 'test', 'remove', 'copy', 'move', 'x')
    const operation = fc.record({ op, path, from: path, value: document }, { requiredKeys: ['op'] })
    fc.assert(
      fc.property(document, fc.array(operation, { maxLength: 6 }), (from, operations) => {
        code(() => patch(from, operations))
      }),
      { numRuns: 1000 },
    )
  })

  const cases: readonly [name: string, document: unknown, operations: unknown, result: unknown][] = [
    ['appends at -', { a: [1] }, [{ op: 'add', path: '/a/-', value: 2 }], { a: [1, 2] }],
    [
      'replaces a member that is not there',
      { a: 1 },
      [{ op: 'replace', path: '/b', value: 2 }],
      { a: 1, b: 2 },
    ],
    ['replaces the document', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
    ['moves', { a: 1 }, [{ op: 'move', from: '/a', path: '/b' }], { b: 1 }],
    ['reads escapes', { 'a/b': { 'm~n': 1 } }, [{ op: 'remove', path: '/a~1b/m~0n' }], { 'a/b': {} }],
    ['takes absent for null in test', {}, [{ op: 'test', path: '/a', value: null }], {}],
    [
      'writes __proto__ as a member',
      { a: {} },
      [{ op: 'add', path: '/a/__proto__', value: 1 }],
      JSON.parse('{"a":{"__proto__":1}}'),
    ],
    [
      'writes constructor as a member',
      {},
      [{ op: 'add', path: '/constructor', value: 1 }],
      { constructor: 1 },
    ],
  ]
  for (const [name, document, operations, result] of cases) {
    it(name, () => assert.equal(canonicalJson(patch(document, operations)), canonicalJson(result)))
  }

  const words: readonly [operation: object, why: string][] = [
    [{ op: 'x', path: '/a' }, 'Unexpected kind: x'],
    [
      { op: 'remove', path: '/x' },
      "error in remove for path: '/x': Unable to remove nonexistent key: x: missing value",
    ],
    [
      { op: 'remove', path: '/x/y' },
      'remove operation does not apply: doc is missing path: "/x/y": missing value',
    ],
    [
      { op: 'remove', path: '/list/3' },
      "error in remove for path: '/list/3': Unable to access invalid index: 3: invalid index referenced",
    ],
    [
      { op: 'add', path: '/x/y', value: 1 },
      'add operation does not apply: doc is missing path: "/x/y": missing value',
    ],
    [
      { op: 'add', path: 'x', value: 1 },
      'add operation does not apply: doc is missing path: "x": missing value',
    ],
    [
      { op: 'add', path: '/list/b', value: 1 },
      `error in add for path: '/list/b': value was not a proper array index: 'b': strconv.Atoi: parsing "b": invalid syntax`,
    ],
    [
      { op: 'replace', path: '/x/y', value: 1 },
      'replace operation does not apply: doc is missing path: /x/y: missing value',
    ],
    [
      { op: 'replace', path: '/list/9', value: 1 },
      'replace operation does not apply: doc is missing key: /list/9: missing value',
    ],
    [
      { op: 'move', from: '/x', path: '/b' },
      "error in move for path: 'x': Unable to remove nonexistent key: x: missing value",
    ],
    [
      { op: 'move', from: '/a', path: '/x/y' },
      'move operation does not apply: doc is missing destination path: /x/y: missing value',
    ],
    [
      { op: 'copy', from: '/x/y', path: '/b' },
      'copy operation does not apply: doc is missing from path: /x/y: missing value',
    ],
    [
      { op: 'test', path: '/x/y', value: 1 },
      'test operation does not apply: is missing path: /x/y: missing value',
    ],
    [{ op: 'test', path: '/a', value: 2 }, 'testing value /a failed: test failed'],
  ]
  for (const [operation, why] of words)
    it(`has upstream’s text: ${why}`, () =>
      assert.throws(
        () => patch({ a: 1, list: ['x'] }, [operation]),
        ({ status }: StatusError) => status.details?.causes?.[0]?.message === why,
      ))

  const bad: readonly [name: string, operations: unknown, code: number][] = [
    ['a patch that is no list', {}, 400],
    ['an operation that is no object', [1], 400],
    ['an unknown operation', [{ op: 'x', path: '/a' }], 422],
    ['a missing value', [{ op: 'add', path: '/a' }], 422],
    ['a failing test', [{ op: 'test', path: '/a', value: 2 }], 422],
    ['removing what is not there', [{ op: 'remove', path: '/x' }], 422],
    ['replacing an item that is not there', [{ op: 'replace', path: '/list/9', value: 1 }], 422],
    ['a missing parent', [{ op: 'add', path: '/x/y', value: 1 }], 422],
    ['an inherited parent', [{ op: 'add', path: '/toString/x', value: 1 }], 422],
    ['an index out of range', [{ op: 'add', path: '/list/2', value: 1 }], 422],
    ['an index with zeros in front', [{ op: 'add', path: '/list/00', value: 1 }], 422],
    ['a move into itself', [{ op: 'move', from: '/list', path: '/list/0' }], 422],
    ['too many operations', Array(10_001).fill({ op: 'test', path: '/a', value: 1 }), 413],
    ['copies that explode', Array(40).fill({ op: 'copy', from: '/list', path: '/list/-' }), 413],
  ]
  const into = (op: string, depth: number) => ({ op, from: '/o', path: `/o${'/a'.repeat(depth)}` })
  const doubled = (start: number, count: number) =>
    Array.from({ length: count }, (_, i) => into('copy', start * 2 ** i))
  const chain = (depth: number): unknown => (depth === 0 ? {} : { a: chain(depth - 1) })
  const deep: Readonly<Record<string, readonly object[]>> = {
    'copies into themselves': [{ op: 'add', path: '/o', value: { a: {} } }, ...doubled(2, 14)],
    'copies of what was added step by step': [
      { op: 'add', path: '/o', value: chain(200) },
      ...Array.from({ length: 50 }, (_, i) => ({
        op: 'add',
        path: `/o${'/a'.repeat(200 * (i + 1))}`,
        value: chain(200),
      })),
      { op: 'copy', from: '/o', path: '/p' },
    ],
    'moves into each other': Array.from({ length: 100 }, (_, i) => [
      { op: 'add', path: `/o${i}`, value: chain(200) },
      { op: 'move', from: i === 0 ? '/a' : `/o${i - 1}`, path: `/o${i}${'/a'.repeat(200)}/a` },
    ]).flat(),
  }
  for (const [name, operations] of Object.entries(deep))
    it(`refuses ${name}, which would be too deep`, () =>
      assert.throws(
        () => patch({ a: 1 }, operations),
        ({ status }: StatusError) => status.details?.causes?.[0]?.message === 'exceeded max depth',
      ))

  it('applies thousands of moves', () => {
    const moves = Array.from({ length: 5_000 }, (_, i) => ({
      op: 'move',
      from: `/k${i}`,
      path: `/k${i + 1}`,
    }))
    assert.deepEqual(patch({ k0: 1 }, moves), { k5000: 1 })
  })

  for (const [name, operations, expected] of bad) {
    it(`refuses ${name}`, () => {
      assert.equal(
        code(() => patch({ a: 1, list: ['x'] }, operations)),
        expected,
      )
    })
  }

  it('names members that operations do not have', () => {
    const { problems } = readJsonPatch([{ op: 'remove', path: '/a', foo: 1 }])
    assert.deepEqual(problems, ['json patch unknown field "[0].foo"'])
  })

  it('names a hundred members that operations do not have, and refuses an operation with more', () => {
    const more = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]))
    const operation = { op: 'remove', path: '/a', ...more(90) }
    assert.equal(readJsonPatch([operation, operation]).problems.length, 100)
    assert.throws(() => readJsonPatch([{}, { ...operation, ...more(99) }]), {
      code: 413,
      message: 'Request entity too large: limit of an operation of a JSON patch is 100 members: [1]',
    })
  })

  it('does not split a path with more levels than a document can have', () => {
    assert.throws(
      () => patch({ a: 1 }, [{ op: 'add', path: '/a'.repeat(1_000_000), value: 1 }]),
      ({ status }: StatusError) => status.details?.causes?.[0]?.message === 'exceeded max depth',
    )
  })
})

describe('merge patch', () => {
  it('has RFC 7386’s meaning', () => {
    const document = { a: 'b', c: { d: 'e', f: 'g' }, list: [1, 2] }
    const result = applyMergePatch(document, { a: 'z', c: { f: null }, list: [3], new: { x: null, y: 1 } })
    assert.deepEqual(result, { a: 'z', c: { d: 'e' }, list: [3], new: { y: 1 } })
  })

  it('is idempotent, and an empty patch changes nothing', () => {
    fc.assert(
      fc.property(members, members, (document, change) => {
        const once = applyMergePatch(document, change)
        assert.equal(canonicalJson(applyMergePatch(once, change)), canonicalJson(once))
        assert.equal(canonicalJson(applyMergePatch(document, {})), canonicalJson(document))
      }),
    )
  })

  it('keeps __proto__ an ordinary member', () => {
    const change = JSON.parse('{"__proto__":{"polluted":true}}')
    assert.equal(canonicalJson(applyMergePatch({}, change)), '{"__proto__":{"polluted":true}}')
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false)
  })

  it('refuses other values than objects', () =>
    assert.equal(
      code(() => readMergePatch([])),
      400,
    ))
})
