import assert from 'node:assert/strict'
import fc from 'fast-check'
import { mostMembers } from '../json/exactjson.ts'
import { canonicalJson, formatJson, parseJson, survey } from '../json/json.ts'
import { mostValues, parseAtOnce, parseBody } from './parsebody.ts'
import { encodeMessage, enveloped } from './protobuf/encode.ts'
import { kindFields } from './protobuf/fields.ts'
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

  it('have a number of values', () => {
    for (const [text, values] of [
      ['1', 1],
      ['[[],{}]', 3],
      ['{"a":[1,{"b":"[,"}]}', 5],
    ] as const)
      assert.equal(survey(Buffer.from(text)).values, values, text)
  })

  it('have a depth', () => {
    assert.equal(survey(Buffer.from('{"a":["]}{[",{}]}')).depth, 3)
    assert.throws(() => parse('['.repeat(100_000)), /exceeded max depth/)
  })
})

describe('long JSON bodies', () => {
  const read = async (text: string) => parseBody({}, Buffer.from(text), 'json')
  /** What a reader returns, or the text of its error. */
  const outcome = async (read: () => unknown): Promise<unknown> => {
    try {
      return await read()
    } catch (error) {
      return String(error)
    }
  }
  const check = async (text: string): Promise<void> => {
    const wanted = await outcome(() => parse(text))
    assert.deepStrictEqual(await outcome(() => read(text)), wanted)
  }

  it('are decoded as short ones', async () => {
    const before = '1,'.repeat(10_000)
    const piece = fc.constantFrom(...'{}[]:,"\\ue1.0-+ '.split(''), '"a":', '1e999', '9007199254740993')
    const broken = fc.array(piece, { maxLength: 12 }).map(pieces => pieces.join(''))
    const text = fc.oneof(fc.json(), broken)
    await fc.assert(
      fc.asyncProperty(text, async text => {
        await check(`[${before}${text}]`)
        await check(`{"a":[${before}1],"b":${text},"ä":1}`)
      }),
      { numRuns: 300 },
    )
  })

  it('keep repeated keys, members of any name, and what is not UTF-8', async () => {
    const list = '1,'.repeat(10_000)
    for (const text of [
      `{"a":[${list}1],"a":{"b":1,"b":2},"__proto__":{"c":[1],"\\u0063":2},"7":1,"3":2}`,
      `{"a":[${list}{"b":1,"b":2}]}`,
    ])
      await check(text)
    const bytes = Buffer.concat([Buffer.from(`[${list}"`), Buffer.from([0xff, 0xfe]), Buffer.from('"]')])
    assert.deepStrictEqual(await parseBody({}, bytes, 'json'), parseAtOnce(bytes, 'json'))
  })

  it('are decoded between the turns of others', async () => {
    for (const text of [
      `[${'[],'.repeat(mostValues / 2 - 10)}1]`,
      `[${'{},'.repeat(mostValues / 2 - 10)}}`,
    ]) {
      let [turns, isOver] = [0, false]
      const next = (): void => {
        turns++
        if (!isOver) setImmediate(next)
      }
      setImmediate(next)
      await outcome(() => read(text))
      isOver = true
      assert.ok(turns > 1)
    }
  })

  it('have a limit of values, whatever their length', async () => {
    await assert.rejects(read(`[${'1,'.repeat(mostValues)}1]`), {
      code: 413,
      message: /limit of JSON is \d+ values/,
    })
    await read(JSON.stringify('1,'.repeat(mostValues)))
  })

  it('have a depth', () => assert.rejects(read('['.repeat(100_000)), /exceeded max depth/))

  it('have a limit of members of one object, with its path', async () => {
    const membersOf = (count: number): string => Array.from({ length: count }, (_, i) => `"k${i}":1`).join()
    await read(`{"a":[{},{"b":{${membersOf(mostMembers)}},"c":1}]}`)
    for (const [text, path] of [
      [`{"a":[{},{"b":{${membersOf(mostMembers + 1)}},"c":1}]}`, ': a[1].b'],
      [`{${membersOf(mostMembers + 1)}}`, ''],
      [`{"${'k'.repeat(9_000)}":{${membersOf(mostMembers + 1)}}}`, `: ${'k'.repeat(250)}…`],
    ] as const)
      await assert.rejects(read(text), {
        code: 413,
        message: `Request entity too large: limit of one object is 50000 members${path}`,
      })
  })
})

describe('large bodies in YAML and protobuf', () => {
  const data = Object.fromEntries(Array.from({ length: mostMembers + 1 }, (_, i) => [`k${i}`, '']))

  it('have a limit of members of one object', () => {
    const text = Object.keys(data).map(key => `${key}:`)
    assert.throws(() => parseYaml(text.join('\n')), {
      code: 413,
      message: /limit of one object is 50000 members/,
    })
  })

  it('have a limit of entries of one map, and of values, in protobuf', async () => {
    const type = { apiVersion: 'v1', kind: 'ConfigMap' }
    const encoded = (object: Readonly<Record<string, unknown>>): Buffer =>
      enveloped(type, encodeMessage(kindFields('', type.kind) ?? new Map(), { ...type, ...object }))
    const read = async (object: Readonly<Record<string, unknown>>) =>
      parseBody({}, encoded(object), 'protobuf')
    await assert.rejects(read({ metadata: { name: 'a' }, data }), {
      code: 413,
      message: 'Request entity too large: limit of one object is 50000 members: data',
    })
    const finalizers = Array.from({ length: mostValues }, () => 'a')
    await assert.rejects(read({ metadata: { finalizers } }), {
      code: 413,
      message: 'Request entity too large: limit of protobuf is 200000 values',
    })
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
