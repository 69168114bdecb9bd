import assert from 'node:assert/strict'
import { withProgress } from './progress.ts'

/** Records what is written to a terminal, or to another stream. */
function screen(isTTY: boolean) {
  const written: string[] = []
  let seen: (text: string) => void = () => undefined
  const write = (text: string): boolean => {
    written.push(text)
    seen(text)
    return true
  }
  const shows = (wanted: string): Promise<void> =>
    new Promise(resolve => {
      seen = text => text.includes(wanted) && resolve()
    })
  return { out: { isTTY, write } as Pick<NodeJS.WriteStream, 'isTTY' | 'write'>, written, shows }
}

describe('progress', () => {
  it('shows a spinner and the text of the work, and clears the line at the end', async () => {
    const { out, written, shows } = screen(true)
    const work = async (say: (text: () => string) => void): Promise<number> => {
      const shown = shows('Starting: 2,000 objects')
      say(() => 'Starting: 2,000 objects')
      await shown
      return 7
    }
    assert.equal(await withProgress('Starting', work, out), 7)
    assert.equal(written[0], '\r\u001b[K⠋ Starting')
    assert.ok(written.includes('\r\u001b[K⠙ Starting: 2,000 objects'))
    assert.equal(written.at(-1), '\r\u001b[K')
  })
  it('clears the line when the work fails', async () => {
    const { out, written } = screen(true)
    await assert.rejects(
      withProgress('Starting', () => Promise.reject(new Error('no')), out),
      /no/,
    )
    assert.equal(written.at(-1), '\r\u001b[K')
  })
  it('writes nothing without a terminal', async () => {
    const { out, written } = screen(false)
    await withProgress('Starting', async say => say(() => assert.fail('no text is shown')), out)
    assert.deepEqual(written, [])
  })
})
