import assert from 'node:assert/strict'
import { goQuoted } from './gotext.ts'

describe('texts that Go quotes', () => {
  const quoted: readonly [text: string, printed: string][] = [
    ['a "b" \\c', '"a \\"b\\" \\\\c"'],
    ['\u0007\b\f\n\r\t\v', '"\\a\\b\\f\\n\\r\\t\\v"'],
    ['\0\u007f', '"\\x00\\x7f"'],
    ['äß🦊', '"äß🦊"'],
    ['\u200b\u{e0001}', '"\\u200b\\U000e0001"'],
  ]
  for (const [text, printed] of quoted)
    it(`print ${JSON.stringify(text)}`, () => assert.equal(goQuoted(text), printed))
})
