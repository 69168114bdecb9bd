import assert from 'node:assert/strict'
import type { SpanSink } from './span.ts'
import { type TracedRequest, Tracing } from './tracing.ts'

const nowhere: SpanSink = { add: () => assert.fail('no span is sampled'), close: async () => undefined }
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'

const requestWith = (parent: string | undefined): TracedRequest => ({
  measured: {} as TracedRequest['measured'],
  parent,
  isTrusted: () => false,
  describe: () => ({ name: 'GET', attributes: {} }),
})

describe('traces of which none is sampled', () => {
  const tracing = new Tracing(nowhere, 0)
  const headersOf = (parent?: string) => tracing.request(requestWith(parent), () => tracing.headers())

  it('pass no context on for requests without one: Node 20 makes each promise dearer while a context is open', () =>
    assert.deepEqual(headersOf(), {}))

  it('pass the context of the caller on', () => {
    const { traceparent = '' } = headersOf(`00-${traceId}-00f067aa0ba902b7-00`)
    assert.match(traceparent, new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
  })
})
