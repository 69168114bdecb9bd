import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { jsonPath, meterOf } from './jsonpath.ts'
import { JsonPathError } from './parser.ts'

const object = {
  metadata: {
    name: 'x',
    labels: { 'app.io/name': 'shop' },
    ownerReferences: [{ name: 'o1' }, { name: 'o2' }],
  },
  spec: { 'a b': 1, ports: [80, 443, 8080], nested: { name: 'inner' }, null: null, big: 9007199254740993n },
  status: {
    conditions: [
      { type: 'Ready', status: 'True', n: 1 },
      { type: 'Synced', status: 'False', n: 5 },
      { type: 'Odd "one"', status: 'Unknown', ok: true },
    ],
  },
}

describe('jsonPath', () => {
  const cases: readonly (readonly [path: string, found: readonly unknown[]])[] = [
    ['.metadata.name', ['x']],
    ['metadata.name'.replace(/^/, '$.'), ['x']],
    ['@.metadata.name', ['x']],
    ['.metadata.labels.app\\.io/name', ['shop']],
    [".metadata.labels['app\\.io/name']", ['shop']],
    [".metadata.labels['app.io/name']", ['shop']],
    ["['metadata']['name']", ['x']],
    [".spec['a b']", [1]],
    ['.spec.missing.deeper', []],
    ['.spec.null', [null]],
    ['.spec.ports[0]', [80]],
    ['.spec.ports[-1]', [8080]],
    ['.spec.ports[7]', []],
    ['.spec.ports[*]', [80, 443, 8080]],
    ['.spec.ports[1:]', [443, 8080]],
    ['.spec.ports[:2]', [80, 443]],
    ['.spec.ports[0:3:2]', [80, 8080]],
    ['.spec.ports[-2:]', [443, 8080]],
    ['.spec.ports[0,2]', [80, 8080]],
    ['.metadata.ownerReferences[*].name', ['o1', 'o2']],
    ['.metadata.labels.*', ['shop']],
    ['..name', ['x', 'o1', 'o2', 'inner']],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    [".status.conditions[?(@.type=='Synced')].status", ['False']],
    ['.status.conditions[?(@.type!="Ready")].n', [5]],
    ['.status.conditions[?(@.n>1)].type', ['Synced']],
    ['.status.conditions[?(@.n<=5)].type', ['Ready', 'Synced']],
    ['.status.conditions[?(@.ok)].status', ['Unknown']],
    ['.status.conditions[?(@.ok==true)].status', ['Unknown']],
    ['.status.conditions[?(@.type=="Odd \\"one\\"")].status', ['Unknown']],
    ['.status.conditions[?(@.type==")]")].status', []],
    ['.status.conditions[?(@.type==1)].status', []],
    ['.spec[?(@.big==1)]', []],
    ['.metadata.name[0]', []],
    ['.constructor', []],
    ['.', []],
  ]
  for (const [path, found] of cases) it(path, () => assert.deepEqual(jsonPath(path)(object), found))

  it('reports errors of a path', () => {
    const message = (path: string): string => {
      try {
        jsonPath(path)
        return ''
      } catch (error) {
        assert.ok(error instanceof JsonPathError)
        return error.message
      }
    }
    assert.equal(message('.a[0'), 'unterminated array')
    assert.equal(message('.a[x]'), 'invalid array index x')
    assert.equal(message('.a[?(@.b=="c"'), 'unterminated filter')
    assert.equal(message('.a[?(@.b=!c)]'), 'unrecognized filter operator =!')
    assert.equal(message('....a'), 'invalid multiple recursive descent')
    assert.equal(message('range .a'), 'unrecognized identifier range')
    assert.equal(message('.a}'), "unrecognized character in action: U+007D '}'")
    assert.equal(message('"a'), 'unterminated quoted string')
    assert.equal(message('1.2.3'), 'cannot parse number 1.2.3')
    assert.match(message('.a'.repeat(5000)), /at most 4096 characters long/)
    assert.match(
      message(`${'[?(@.a'.repeat(30)}${')]'.repeat(30)}`),
      /nested deeper than 16 levels|unterminated filter/,
    )
  })

  it('finds nothing when it would read too much', () => {
    const wrapped = (value: unknown, depth: number): unknown =>
      depth === 0 ? value : [wrapped(value, depth - 1)]
    const wide = Array.from({ length: 30 }, () => Array.from({ length: 30 }, () => Array(30).fill([])))
    assert.deepEqual(jsonPath('[0,0]'.repeat(18))(wrapped(1, 18)), [])
    assert.deepEqual(jsonPath('[*][*][*].a')(wide), [])
    assert.deepEqual(jsonPath('[?(@[*][*][*].a)]')(wide), [])
    assert.deepEqual(jsonPath('..a')({ a: 1, b: wide }), [])
    const shared = Array(100_000).fill(1)
    const repeated = '[0,0]'.repeat(12)
    for (const path of ['[*]', '.*', '..', '[0:100000:99999].a', '[?(@==2)]'])
      assert.deepEqual(jsonPath(repeated + path)(wrapped(shared, 12)), [], path)
  })

  it('has one limit for all paths of an object', () => {
    const list = { a: Array(meterOf().left / 2 - 10).fill(1) }
    const meter = meterOf()
    assert.equal(jsonPath('.a[*]')(list, meter).length, list.a.length)
    assert.deepEqual(jsonPath('.a[*]')(list, meter), [])
  })

  it('compiles or reports an error, and finds values, for every path', () => {
    const piece = fc.constantFrom(
      '.',
      '..',
      '[',
      ']',
      '*',
      "'",
      '"',
      '@',
      '?(',
      ')',
      '==',
      '<',
      'a',
      '0',
      '-1',
      ',',
      ':',
      '\\',
      ' ',
      'true',
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }).map(p => p.join('')),
        fc.jsonValue(),
        (path, value) => {
          try {
            assert.ok(Array.isArray(jsonPath(path)(value)))
          } catch (error) {
            assert.ok(error instanceof JsonPathError, `${path}: ${error}`)
          }
        },
      ),
      { numRuns: 3000 },
    )
  })
})
