import assert from 'node:assert/strict'
import { turn } from '../async/awaitable.ts'
import { createMetrics } from './metrics.ts'

const spin = (milliseconds: number): void => {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

describe('the time for which a request blocks the event loop', () => {
  const name = 'oriel_request_event_loop_hold_seconds'
  const countOf = (text: string, method: string): string | undefined =>
    new RegExp(`^${name}_count\\{verb="${method}".*\\} (\\d+)$`, 'm').exec(text)?.[1]

  it('is observed for each part of its work, and for that request only', async () => {
    const metrics = createMetrics()
    const slow = metrics.begin('POST')
    spin(25)
    metrics.begin('GET')
    await turn()
    slow.works()
    spin(25)
    await turn()
    const { body } = await metrics.text()
    assert.equal(countOf(body, 'POST'), '2')
    assert.equal(countOf(body, 'GET'), undefined)
  })
})
