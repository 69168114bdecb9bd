import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { turn, waitOutside } from '../async/turn.ts'
import { createMetrics, type Metrics } from './metrics.ts'

/** Clocks of the test: what passes, and what the process has the processor for. */
function clocks() {
  let [passed, used] = [1_000, 1_000]
  mock.method(performance, 'now', () => passed)
  mock.method(process, 'cpuUsage', () => ({ user: used * 600, system: used * 400 }))
  return (milliseconds: { readonly passed: number; readonly used: number }): void => {
    passed += milliseconds.passed
    used += milliseconds.used
  }
}

describe('the time for which a request blocks the event loop', () => {
  let spend: ReturnType<typeof clocks>
  let metrics: Metrics
  beforeEach(() => {
    spend = clocks()
    metrics = createMetrics()
  })
  afterEach(() => mock.restoreAll())

  const name = 'oriel_request_event_loop_hold_seconds'
  /** The number of observations of a method, and their sum. */
  const observed = async (method: string): Promise<readonly (string | undefined)[]> => {
    const { body } = await metrics.text()
    return ['count', 'sum'].map(
      part => new RegExp(`^${name}_${part}\\{verb="${method}".*\\} ([\\d.]+)$`, 'm').exec(body)?.[1],
    )
  }

  it('is observed for each part of its work, and for that request only', async () => {
    const slow = metrics.begin('POST')
    spend({ passed: 25, used: 25 })
    metrics.begin('GET')
    await turn()
    slow.works()
    spend({ passed: 25, used: 25 })
    await turn()
    assert.deepEqual(await observed('POST'), ['2', '0.05'])
    assert.deepEqual(await observed('GET'), [undefined, undefined])
  })

  it('is observed after each turn, for the request that waited', async () => {
    const others = new Promise<void>(resolve => setImmediate(resolve))
    metrics.begin('POST')
    const waited = turn()
    metrics.begin('GET')
    await others
    await waited
    spend({ passed: 40, used: 40 })
    await turn()
    assert.deepEqual(await observed('POST'), ['1', '0.04'])
    assert.deepEqual(await observed('GET'), [undefined, undefined])
  })

  it('is observed after the response of another server, for the request that waited', async () => {
    metrics.begin('POST')
    const goOn = waitOutside()
    await turn()
    metrics.begin('GET')
    await turn()
    goOn()
    spend({ passed: 40, used: 40 })
    await turn()
    assert.deepEqual(await observed('POST'), ['1', '0.04'])
    assert.deepEqual(await observed('GET'), [undefined, undefined])
  })

  it('is that of the processor, also on a machine that is busy with others', async () => {
    metrics.begin('POST')
    spend({ passed: 400, used: 10 })
    await turn()
    metrics.begin('POST')
    spend({ passed: 400, used: 50 })
    await turn()
    assert.deepEqual(await observed('POST'), ['1', '0.05'])
  })

  it('is not that of other threads', async () => {
    metrics.begin('POST')
    spend({ passed: 30, used: 90 })
    await turn()
    assert.deepEqual(await observed('POST'), ['1', '0.03'])
  })

  it('has its lines from the first request with these labels on', async () => {
    metrics.begin('POST').end(200)
    assert.deepEqual(await observed('POST'), ['0', '0'])
    spend({ passed: 30, used: 30 })
    await turn()
    assert.deepEqual(await observed('POST'), ['1', '0.03'])
  })

  it('is not that of the requests before', async () => {
    metrics.begin('POST')
    spend({ passed: 19, used: 19 })
    metrics.begin('GET')
    spend({ passed: 19, used: 19 })
    await turn()
    metrics.begin('PUT')
    spend({ passed: 300, used: 15 })
    await turn()
    for (const method of ['POST', 'GET', 'PUT'])
      assert.deepEqual(await observed(method), [undefined, undefined])
  })
})
