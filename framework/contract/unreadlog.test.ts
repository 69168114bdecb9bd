import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { beside, root } from '../../test/support/source.ts'

/** Logs 64 MB while nobody reads, says how much memory it has, and waits until its input ends. */
const argumentsOfNode = beside(import.meta, 'log')
const program = `
import { createLogger } from ${JSON.stringify(argumentsOfNode.at(-1))}
const log = createLogger('info')
const before = process.memoryUsage().rss
for (let i = 0; i < 64; i++) {
  log.error({ i, text: 'x'.repeat(1e6) }, 'long')
  await new Promise(setImmediate)
}
process.stdout.write(String(process.memoryUsage().rss - before) + '\\n')
process.stdin.resume()
`

describe('the log that nobody reads', () => {
  it('keeps a limited number of lines, and says how many it has dropped', async () => {
    const child = spawn(
      process.execPath,
      [...argumentsOfNode.slice(0, -1), '--input-type=module', '--eval', program],
      {
        cwd: root,
      },
    )
    await new Promise(resolve => child.stdout.once('data', resolve))
    const read = text(child.stderr)
    await new Promise(resolve => setTimeout(resolve, 500))
    child.stdin.end()
    const lines = (await read)
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    const last = lines.at(-1)
    assert.equal(last.msg, 'log lines were dropped because nobody has read standard error')
    assert.equal(lines.length - 1 + last.lines, 64)
    assert.ok(lines.length < 24, `${lines.length} lines`)
  })
})
