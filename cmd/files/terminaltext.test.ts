import assert from 'node:assert/strict'
import { columnsText } from './columns.ts'
import { lineText, terminalText } from './terminaltext.ts'

const hostile = 'a\u001b[2J\u009b2J\r\n\u202eb\u2028\u0000\u007f\tc'
const escaped = 'a\\u001b[2J\\u009b2J\\r\\n\\u202eb\\u2028\\u0000\\u007f\\tc'

describe('texts of servers in a terminal', () => {
  it('stay on their line, without control characters', () => {
    assert.equal(lineText(hostile), escaped)
    assert.equal(lineText('Grüße, 世界 \u{1f600} C:\\temp'), 'Grüße, 世界 \u{1f600} C:\\temp')
  })

  it('keep the lines and tabs of output', () => {
    assert.equal(terminalText(`${escaped}\n\tb\u001b[1m`), `${escaped}\n\tb\\u001b[1m`)
  })

  it('are the same JSON', () => {
    const json = JSON.stringify({ [hostile]: hostile }, undefined, 2)
    assert.deepEqual(JSON.parse(terminalText(json)), { [hostile]: hostile })
  })

  it('are one line in a table, whose columns stay aligned', () => {
    assert.equal(
      columnsText([
        ['NAME', 'AGE'],
        ['a\nb', '1d'],
      ]),
      'NAME  AGE\na\\nb  1d\n',
    )
  })
})
