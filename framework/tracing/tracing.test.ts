import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { skip } from '../../test/support/notrun.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { SpanSink } from './span.ts'
import { type TracedRequest, Tracing } from './tracing.ts'

/** `AsyncContextFrame` of V8. */
const storesContextsInPromises = Number.parseInt(process.versions.node, 10) >= 24

const nowhere: SpanSink = { add: () => assert.fail('no span is sampled'), close: async () => undefined }
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'

const requestWith = (parent: string | undefined): TracedRequest => ({
  measured: {} as TracedRequest['measured'],
  parent,
  isTrusted: () => false,
  isHeld: () => false,
  describe: () => ({ name: 'GET', attributes: {} }),
})

const caller = `00-${traceId}-00f067aa0ba902b7-00`
const metrics = { begin: () => ({ end: () => undefined }) } as unknown as Metrics

describe('traces of which none is sampled', () => {
  const tracing = new Tracing(nowhere, 0)
  const headersOf = (parent?: string) => tracing.request(requestWith(parent), () => tracing.headers())

  it('pass no context on for requests without one: before version 24 Node makes each promise dearer while a context is open', () =>
    assert.deepEqual(headersOf(), {}))

  it('pass the context of the caller on', () => {
    const { traceparent = '' } = headersOf(caller)
    assert.match(traceparent, new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
  })
  for (const [what, isHeld] of [
    ['held response that has started', true],
    ['response that has started', false],
  ] as const)
    it(`keep ${isHeld ? 'no' : 'the'} context of a ${what}: it makes the promises of all requests dearer`, async function () {
      if (isHeld && storesContextsInPromises) skip(this, 'since version 24, contexts of Node take no time')
      const own = new Tracing(nowhere, 0)
      const measured = own.measuring(metrics).begin('GET')
      let goOn = (): void => undefined
      const later = new Promise<void>(resolve => {
        goOn = resolve
      }).then(() => own.headers())
      const request = { ...requestWith(caller), measured, isHeld: () => isHeld }
      let streamed: Promise<object> = later
      await own.request(request, async () => {
        streamed = new Promise<void>(resolve => {
          goOn = resolve
        }).then(() => own.headers())
      })
      await turn()
      goOn()
      assert.equal('traceparent' in (await streamed), !isHeld)
      measured.end(200)
    })
})
