import assert from 'node:assert/strict'
import fc from 'fast-check'
import { jsonError } from './json.ts'

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('jsonError', () => {
  // Texts are those of kcp.
  const cases: readonly (readonly [text: string, why: string])[] = [
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['[1', 'unexpected end of JSON input'],
    ['"x', 'unexpected end of JSON input'],
    ['{"a"}', "invalid character '}' after object key"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
    ['{"a":01}', "invalid character '1' after object key:value pair"],
    ['[1 2]', "invalid character '2' after array element"],
    ['{"a":[1,]}', "invalid character ']' looking for beginning of value"],
    ['{"a":1} x', "invalid character 'x' after top-level value"],
    ['{"a":tru}', "invalid character '}' in literal true (expecting 'e')"],
    ['{"a":nul', "invalid character ' ' in literal null (expecting 'l')"],
    ['nope', "invalid character 'o' in literal null (expecting 'u')"],
    ['{"a":-}', "invalid character '}' in numeric literal"],
    ['{"a":1.}', "invalid character '}' after decimal point in numeric literal"],
    ['{"a":1e}', "invalid character '}' in exponent of numeric literal"],
    ['{"a":"x\ny"}', "invalid character '\\n' in string literal"],
    ['{"a":"\\q"}', "invalid character 'q' in string escape code"],
    ['{"a":"\\u12x4"}', "invalid character 'x' in \\u hexadecimal character escape"],
    ['"\u0001', "invalid character '\\x01' in string literal"],
    ['ä', "invalid character 'Ã' looking for beginning of value"],
  ]
  for (const [text, why] of cases)
    it(`returns ${why} for ${JSON.stringify(text)}`, () => assert.equal(jsonError(Buffer.from(text)), why))

  it('returns an error for what JSON.parse refuses', () => {
    const piece = fc.constantFrom(...'{}[]:,"\\ue1.0-+ \n'.split(''), 'true', 'null', 'fals', '"a"', '"a":')
    const text = fc.oneof(
      fc.array(piece, { maxLength: 12 }).map(pieces => pieces.join('')),
      fc.json(),
    )
    fc.assert(
      fc.property(text, text => assert.equal(jsonError(Buffer.from(text)) === undefined, isJson(text), text)),
      { numRuns: 5000 },
    )
  })
})
