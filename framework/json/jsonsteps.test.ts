import assert from 'node:assert/strict'
import fc from 'fast-check'
import { atOnce, maxDepth, parseJson } from './json.ts'
import { parseJsonSteps } from './jsonsteps.ts'

const read = (text: string, most: number): unknown => atOnce(parseJsonSteps(text, { atOnce: most }))

/** What `parseJson` returns, or undefined for text that is no JSON. */
const expected = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: parseJson(Buffer.from(text)) }
  } catch {
    return undefined
  }
}

function check(text: string, most: number): void {
  const same = expected(text)
  if (same === undefined) assert.throws(() => read(text, most), SyntaxError, text)
  else assert.deepStrictEqual(read(text, most), same.value, text)
}

const most = fc.integer({ min: 1, max: 12 })

describe('JSON that is read in steps', () => {
  it('is the JSON that is read at once', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom(0, 1, 2), most, (text, indent, most) =>
        check(JSON.stringify(JSON.parse(text), undefined, indent), most),
      ),
    )
  })

  it('is refused where it is refused at once', () => {
    const piece = fc.constantFrom(
      ...'{}[]:,"\\ue1.0-+ \n'.split(''),
      'true',
      'null',
      '"a"',
      '"a":',
      '{"b":[1]}',
    )
    const text = fc.array(piece, { maxLength: 14 }).map(pieces => pieces.join(''))
    fc.assert(
      fc.property(text, most, (text, most) => check(text, most)),
      { numRuns: 20_000 },
    )
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 4 }),
        fc.nat(),
        fc.nat(),
        piece,
        most,
        (text, from, to, piece, most) => {
          const [a, b] = [from % (text.length + 1), to % (text.length + 1)]
          check(text.slice(0, Math.min(a, b)) + piece + text.slice(Math.max(a, b)), most)
        },
      ),
      { numRuns: 5_000 },
    )
  })

  it('keeps members of any name, the last of repeated ones, and large integers', () => {
    for (const text of [
      '{"__proto__":{"a":[1,2,3]},"b":{"__proto__":5,"c":[1,2,3,4]}}',
      '{"a":[1,2,3,4,5,6],"b":1,"a":{"c":2}}',
      '{"a":1,"b":[1,2,3,4,5,6],"\\u0061":[9007199254740993]}',
      ' [ [ ] , [                ] , {                 } ] ',
      '{"":-{"b":[1]}}',
      '{"a":1{"b":[1]}}',
      '["},{", {"]":"\\"["}, "\\\\"]',
    ])
      for (let most = 1; most < 20; most++) check(text, most)
  })

  it('takes a step for some thousand characters, however they nest', () => {
    const items = Array.from({ length: 20_000 }, (_, i) => ({ [`k${i}`]: [i] }))
    for (const value of [items, { a: { b: items } }, Object.fromEntries(items.map((item, i) => [i, item]))]) {
      const text = JSON.stringify(value)
      let count = 0
      for (const _ of parseJsonSteps(text)) count++
      assert.ok(count > text.length / 20_000, `${count} steps for ${text.length} characters`)
    }
  })

  it('has no object of too many members', () => {
    const read = (value: object): unknown =>
      atOnce(parseJsonSteps(JSON.stringify(value), { atOnce: 10, members: 5 }))
    for (const value of [
      { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 },
      { a: [1], b: [2], c: 3, d: [4], e: 5, f: [6] },
    ])
      for (const nested of [value, [value], { value }]) assert.throws(() => read(nested), /too many members/)
    const most = [[1, 2, 3, 4, 5, 6], { a: 1, b: { a: 1, b: 2, c: 3, d: 4, e: 5 }, c: 3, d: 4, e: 5 }]
    assert.deepEqual(read(most), most)
  })

  it('has no more values than allowed, at all levels together', () => {
    const readAll = (value: unknown): unknown =>
      atOnce(parseJsonSteps(JSON.stringify(value), { atOnce: 10, values: 6 }))
    for (const value of [[1, 2, 3, 4, 5, 6], { a: [1, 2], b: ['x,[{', 4] }, [[[[[[]]]]]]])
      assert.deepEqual(readAll(value), value)
    for (const value of [[1, 2, 3, 4, 5, 6, 7], { a: [1, 2, 3], b: ['x', 4, 5] }, [[[[[[[]]]]]]]])
      assert.throws(() => readAll(value), /too many values/)
  })

  it('is not read where it is nested too deep', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
    assert.deepEqual(read(nested(maxDepth), 1), JSON.parse(nested(maxDepth)))
    for (const text of [nested(maxDepth + 1), nested(1_000_000)])
      assert.throws(() => read(text, 100), /exceeded max depth/)
  })
})
