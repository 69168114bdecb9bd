import assert from 'node:assert/strict'
import fc from 'fast-check'
import { equalSets, intersection, pathsOf, sharing } from './common.ts'
import { inOrder, keyElement, parseElement, printPath, valueElement } from './fieldpath.ts'
import {
  difference,
  type FieldSet,
  formatFields,
  has,
  noFields,
  recursiveDifference,
  setOf,
  union,
} from './fieldset.ts'
import { parseFields } from './parsefields.ts'

const element = fc.constantFrom('f:a', 'f:b', 'k:{"name":"x"}', 'v:"s"', 'v:1', 'i:0')
const path = fc.array(element, { minLength: 1, maxLength: 3 })
const paths = fc.array(path, { maxLength: 8 })

const texts = (set: FieldSet): readonly string[] => [...pathsOf(set)].map(each => each.join(' ')).sort()
const textsOf = (all: readonly (readonly string[])[]): readonly string[] =>
  [...new Set(all.map(each => each.join(' ')))].sort()

describe('field sets', () => {
  it('are sets of paths', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const [x, y] = [setOf(a), setOf(b)]
        const isIn = (all: typeof a) => (text: string) => textsOf(all).includes(text)
        assert.deepEqual(texts(union(x, y)), textsOf([...a, ...b]))
        assert.deepEqual(texts(intersection(x, y)), textsOf(a).filter(isIn(b)))
        assert.deepEqual(
          texts(difference(x, y)),
          textsOf(a).filter(text => !isIn(b)(text)),
        )
        for (const each of a) assert.ok(has(x, each))
        assert.equal(equalSets(x, y), textsOf(a).join() === textsOf(b).join())
      }),
    )
  })

  it('lose the fields below a member, too, in a recursive difference', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const gone = (text: string) =>
          textsOf(b).some(other => text === other || text.startsWith(`${other} `))
        assert.deepEqual(
          texts(recursiveDifference(setOf(a), setOf(b))),
          textsOf(a).filter(text => !gone(text)),
        )
      }),
    )
  })

  it('are unchanged operands where nothing changes, and share equal parts', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const [x, y] = [setOf(a), setOf(b)]
        const [more, less, left] = [union(x, y), intersection(x, y), difference(x, y)]
        assert.equal(union(more, y), more)
        assert.equal(difference(left, y), left)
        assert.equal(recursiveDifference(x, noFields), x)
        assert.equal(sharing(setOf(a), x), x)
        assert.deepEqual(texts(sharing(y, x)), texts(y))
        assert.ok(equalSets(sharing(less, x), less))
      }),
    )
  })

  it('survive fieldsV1', () => {
    fc.assert(fc.property(paths, a => assert.ok(equalSets(parseFields(formatFields(setOf(a))), setOf(a)))))
  })

  it('are written as they were read', () => {
    const item = (more: object) => ({ 'f:l': { 'k:{"n":1}': { '.': {}, 'f:n': {}, ...more } } })
    for (const more of [{ 'f:p': {} }, { 'f:p': { 'f:q': {} } }, {}, { 'f:p': {}, 'f:q': {} }]) {
      const read = parseFields(item(more))
      assert.deepEqual(formatFields(read), item(more))
      assert.ok(equalSets(parseFields(formatFields(read)), read))
    }
  })

  it('are parsed once if they are large', () => {
    const many = Object.fromEntries(
      Array.from({ length: 5000 }, (_, i) => [`f:${i}`, { '.': {}, 'f:x': {} }]),
    )
    const read = parseFields(many)
    assert.equal(parseFields(many), read)
    assert.equal(formatFields(read), many)
    const made = setOf(pathsOf(read))
    assert.deepEqual(formatFields(made), many)
    assert.equal(parseFields(formatFields(made)), made)
  })

  it('are written as Kubernetes writes them (5.21, 5.22)', () => {
    const set = setOf([
      ['f:spec', 'f:ports', 'k:{"name":"http"}'],
      ['f:spec', 'f:ports', 'k:{"name":"http"}', 'f:port'],
      ['f:spec', 'f:tags', 'v:"x"'],
    ])
    assert.equal(
      JSON.stringify(formatFields(set)),
      '{"f:spec":{"f:ports":{"k:{\\"name\\":\\"http\\"}":{".":{},"f:port":{}}},"f:tags":{"v:\\"x\\"":{}}}}',
    )
  })

  it('are parsed leniently where later versions may add fields, and otherwise strictly', () => {
    assert.deepEqual(texts(parseFields({ 'f:a': {}, 'q:x': { 'f:b': {} } })), ['f:a'])
    for (const bad of [
      5,
      [],
      { 'f:a': 1 },
      { a: {} },
      { abc: {} },
      { 'k:[]': {} },
      { 'v:{': {} },
      { 'i:x': {} },
    ])
      assert.throws(() => parseFields(bad), SyntaxError, JSON.stringify(bad))
  })
})

describe('path elements', () => {
  it('have one form each (5.42)', () => {
    assert.equal(parseElement('k:{"b": 1.0, "a":"x"}'), 'k:{"a":"x","b":1}')
    assert.equal(parseElement('v: 1.50'), 'v:1.5')
    assert.equal(valueElement('a<b'), 'v:"a\\u003cb"')
    assert.equal(parseElement('v:"a<b"'), valueElement('a<b'))
    assert.equal(
      keyElement([
        ['name', 'x'],
        ['port', 80],
      ]),
      'k:{"name":"x","port":80}',
    )
  })

  it('are printed for people (5.43)', () => {
    assert.equal(
      printPath(['f:spec', 'k:{"a":"x","b":2}', 'v:"s"', 'v:true', 'i:3']),
      '.spec[a="x",b=2][="s"][=true][3]',
    )
  })

  it('are ordered: fields, keys, values by type, indexes', () => {
    const sorted = [
      'f:a',
      'f:b',
      'k:{"n":9}',
      'k:{"n":80}',
      'k:{"n":"a"}',
      'k:{"n":"a","p":1}',
      'v:9',
      'v:80',
      'v:"a"',
      'v:true',
      'i:0',
      'i:10',
    ]
    assert.deepEqual(inOrder([...sorted].reverse()), sorted)
  })
})
