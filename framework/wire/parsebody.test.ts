import assert from 'node:assert/strict'
import fc from 'fast-check'
import { canonicalJson, formatJson, parseJson, survey } from '../json/json.ts'
import { parseAtOnce } from './parsebody.ts'
import { formatYaml, parseYaml } from './yaml.ts'

const parse = (text: string) => parseAtOnce(Buffer.from(text), 'json')
const value = fc.jsonValue().map(json => JSON.parse(JSON.stringify(json)))

describe('JSON bodies', () => {
  it('equal JSON.parse where it loses nothing', () => {
    fc.assert(
      fc.property(value, fc.nat(4), (value, indent) => {
        const { value: read, duplicates } = parse(JSON.stringify(value, undefined, indent))
        assert.equal(canonicalJson(read), canonicalJson(value))
        assert.deepEqual(duplicates, [])
      }),
    )
  })

  it('report duplicate keys, with paths, in the order of the document', () => {
    const text = '{"a":1,"spec":{"x":"\\"x\\":{","x":2,"list":[{"k":1,"k":{"z":1,"z":1}}]},"a":2}'
    const { value, duplicates } = parse(text)
    assert.deepEqual(value, { a: 2, spec: { x: 2, list: [{ k: { z: 1 } }] } })
    assert.deepEqual(duplicates, [
      'duplicate field "spec.x"',
      'duplicate field "spec.list[0].k"',
      'duplicate field "spec.list[0].k.z"',
      'duplicate field "a"',
    ])
  })

  it('keep 64-bit integers; others are doubles as in Go', () => {
    const read = (text: string): unknown => parseJson(Buffer.from(text))
    assert.equal(read('9007199254740993'), 9007199254740993n)
    assert.equal(read('-9223372036854775808'), -9223372036854775808n)
    assert.equal(read('18446744073709551615'), 18446744073709552000)
    assert.equal(read('1234567890.1234567890'), 1234567890.1234567)
    assert.equal(read('1e3'), 1000)
    assert.throws(() => read('1e999'), SyntaxError)
    assert.equal(formatJson([9007199254740993n, { a: undefined, b: 1 }]), '[9007199254740993,{"b":1}]')
  })

  it('have a depth', () => {
    assert.equal(survey(Buffer.from('{"a":["]}{[",{}]}')).depth, 3)
    assert.throws(() => parse('['.repeat(100_000)), /exceeded max depth/)
  })
})

describe('YAML bodies', () => {
  it('parse the formatted text', () => {
    fc.assert(
      fc.property(value, value => {
        assert.equal(canonicalJson(parseYaml(formatYaml(value)).value), canonicalJson(value))
      }),
    )
  })

  it('are YAML 1.1 as Kubernetes reads it', () => {
    const text =
      'a: yes\nb: off\nc: 0777\nd: 2020-01-01\ne: 12:30:45\nf: ~\ng: 9007199254740993\n1: x\ntrue: z\n.: .\nh: .5\n'
    assert.deepEqual(parseYaml(text).value, {
      a: true,
      b: false,
      c: 511,
      d: '2020-01-01',
      e: '12:30:45',
      f: null,
      g: 9007199254740993n,
      1: 'x',
      true: 'z',
      '.': '.',
      h: 0.5,
    })
  })

  it('report duplicate keys by line', () => {
    const { value, duplicates } = parseYaml('a: 1\nb:\n  c: 1\n  c: 2\na: 2\n')
    assert.deepEqual(value, { a: 2, b: { c: 2 } })
    assert.deepEqual([...duplicates].sort(), [
      'line 4: key "c" already set in map',
      'line 5: key "a" already set in map',
    ])
  })

  const bomb = Array.from(
    { length: 9 },
    (_, i) =>
      `a${i}: &a${i} [${Array(9)
        .fill(i === 0 ? 'x' : `*a${i - 1}`)
        .join(',')}]\n`,
  ).join('')
  const bad: readonly [name: string, text: string][] = [
    ['alias bombs', bomb],
    ['several documents', 'a: 1\n---\nb: 1\n'],
    ['deep flow', '['.repeat(20_000)],
    ['deep blocks', Array.from({ length: 2000 }, (_, i) => `${' '.repeat(i)}a:\n`).join('')],
    ['deep lists on one line', '- '.repeat(20_000)],
    ['unknown aliases', 'a: *x'],
    ['infinity', 'a: .inf'],
    ['maps as keys', '{a: 1}: b'],
  ]
  for (const [name, text] of bad) {
    it(`refuse ${name}`, () => assert.throws(() => parseYaml(text), SyntaxError))
  }
})
