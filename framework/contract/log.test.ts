import assert from 'node:assert/strict'
import { run } from '../../test/support/oriel.ts'
import { beside, root } from '../../test/support/source.ts'

describe('a logger', () => {
  it('writes JSON lines, and changes its level together with its children', async () => {
    const argumentsOfNode = beside(import.meta, 'log')
    const module = argumentsOfNode.at(-1)
    const script = `
      import { createLogger } from ${JSON.stringify(module)}
      const log = createLogger('warn')
      const child = log.child({ view: 'a' }).child({ n: 1 })
      child.info({}, 'unseen'); child.debug({}, 'unseen'); child.warn({ x: 2 }, 'first')
      log.setLevel('debug')
      child.debug({}, 'second'); child.info({}, 'third')
      process.stdout.write(String([child.isLevelEnabled('debug'), child.setLevel]))`
    const args = [...argumentsOfNode.slice(0, -1), '--input-type=module', '--eval', script]
    const { stdout, stderr, code } = await run(process.execPath, args, { cwd: root })
    assert.equal(code, 0, stderr)
    const lines = stderr
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    assert.deepEqual(
      lines.map(({ time, ...line }) => line),
      [
        { level: 40, view: 'a', n: 1, x: 2, msg: 'first' },
        { level: 20, view: 'a', n: 1, msg: 'second' },
        { level: 30, view: 'a', n: 1, msg: 'third' },
      ],
    )
    assert.equal(stdout, 'true,')
  })

  it('escapes characters that mislead a terminal, as JSON', async () => {
    const argumentsOfNode = beside(import.meta, 'log')
    const hostile = 'a\u001b\u007f\u009b2J\u202e\u2066\u200f\u2028 Grüße, 世界 \u{1f600}\n'
    const script = `
      import { createLogger } from ${JSON.stringify(argumentsOfNode.at(-1))}
      const text = ${JSON.stringify(hostile)}
      createLogger('warn').child({ [text]: 1 }).warn({ text }, text)`
    const args = [...argumentsOfNode.slice(0, -1), '--input-type=module', '--eval', script]
    const { stderr } = await run(process.execPath, args, { cwd: root })
    assert.match(stderr, /^[^\p{Cc}\p{Cf}\u2028]+\n$/u)
    assert.match(stderr, /世界 \u{1f600}/u)
    const { time, ...line } = JSON.parse(stderr)
    assert.deepEqual(line, { level: 40, [hostile]: 1, text: hostile, msg: hostile })
  })
})
