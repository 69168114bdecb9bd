import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { quiet } from '../../test/support/time/quiet.ts'
import { ask, open, protocols, testCertificates } from '../../test/support/wire.ts'
import { type Logger, silent } from '../contract/log.ts'
import { badRequest } from '../meta/errors.ts'
import { createMetrics } from '../metrics/metrics.ts'
import type { Answer } from '../request/response.ts'
import { type Listener, listen } from './listener.ts'
import { type Exchange, type Handler, serve } from './serve.ts'

const metrics = createMetrics()
const json = (body: Answer['body'], more: Partial<Answer> = {}): Answer => ({
  status: 200,
  contentType: 'application/json',
  body,
  ...more,
})

/** A promise and its resolver, for "until this has happened". */
function event<T = void>(): { promise: Promise<T>; happen: (value: T) => void } {
  let happen: (value: T) => void = () => undefined
  const promise = new Promise<T>(resolve => {
    happen = resolve
  })
  return { promise, happen }
}

describe('answering one request', () => {
  let listener: Listener
  let url: string
  let handler: Handler
  let stopping: AbortController
  let requestTimeout: number
  const errors: object[] = []
  const log: Logger = { ...silent, error: fields => void errors.push(fields), child: () => log }

  beforeEach(async () => {
    stopping = new AbortController()
    requestTimeout = 60_000
    errors.length = 0
    const { tls } = testCertificates()
    const serving: RequestListener = (request, response) => {
      const service = { log, metrics, requestTimeout, stopping: stopping.signal }
      void serve(service, { request, response }, exchange => handler(exchange))
    }
    listener = await listen({ host: '127.0.0.1', port: 0, tls }, serving)
    url = `https://127.0.0.1:${listener.port}`
  })
  afterEach(() => listener.drain(0))

  for (const protocol of protocols) {
    describe(`over ${protocol}`, () => {
      it('sends whole bodies with their length and the headers of every answer', async () => {
        handler = async ({ record }) => {
          record.warn('say "hi"')
          record.warn('naïve ☃')
          record.warn('say "hi"')
          return json(Buffer.from('{}'), { headers: { 'Cache-Control': 'public' } })
        }
        const reply = await ask(protocol, `${url}/a`, { headers: { 'audit-id': 'abc' } })
        assert.equal(reply.status, 200)
        assert.equal(reply.body, '{}')
        assert.equal(reply.headers['content-length'], '2')
        assert.equal(reply.headers['audit-id'], 'abc')
        assert.equal(reply.headers['cache-control'], 'public')
        const warning = Buffer.from(String(reply.headers.warning), 'latin1').toString()
        assert.equal(warning, '299 - "say \\"hi\\"", 299 - "naïve ☃"')
      })

      it('sends no body for HEAD, and lets go of a stream', async () => {
        const closed = event()
        handler = async () => json(returning(closed.happen))
        const reply = await ask(protocol, `${url}/a`, { method: 'HEAD' })
        assert.equal(reply.status, 200)
        assert.equal(reply.body, '')
        await closed.promise
      })

      it('sends the head at once when it is to be flushed', async () => {
        const go = event()
        handler = async () =>
          json(
            (async function* () {
              await go.promise
              yield Buffer.from('x\n')
            })(),
            { flush: true },
          )
        const reply = await open(protocol, `${url}/a`)
        assert.equal(reply.status, 200)
        go.happen()
        assert.equal(await reply.next(), 'x\n')
        assert.equal(await reply.next(), undefined)
      })

      it('ends the stream when the client leaves', async () => {
        const closed = event()
        handler = async ({ lifetime }) => json(endless(lifetime.signal, closed.happen), { flush: true })
        const reply = await open(protocol, `${url}/a`)
        assert.equal(await reply.next(), 'first\n')
        reply.leave()
        await closed.promise
        assert.deepEqual(errors, [])
      })

      it('asks a stream for no more than a stalled reader takes', async () => {
        let made = 0
        const closed = event()
        const chunk = Buffer.alloc(1 << 20)
        handler = async () =>
          json(
            (async function* () {
              try {
                for (;;) {
                  made++
                  yield chunk
                }
              } finally {
                closed.happen()
              }
            })(),
          )
        const reply = await open(protocol, `${url}/a`)
        // The generator has stopped when the event loop has nothing left to do for it.
        await quiet(() => made)
        assert.ok(made < 64, `${made} MiB for a reader that reads nothing`)
        reply.leave()
        await closed.promise
      })

      it('cuts off a stream that fails after it has begun', async () => {
        handler = async () =>
          json(
            (async function* () {
              yield Buffer.from('half')
              await new Promise(setImmediate)
              throw new Error('broken')
            })(),
          )
        const reply = await open(protocol, `${url}/a`)
        await assert.rejects(async () => {
          while ((await reply.next()) !== undefined);
        })
      })

      it('answers for a stream that fails before it has begun', async () => {
        handler = async () =>
          json(
            // biome-ignore lint/correctness/useYield: fails first
            (async function* () {
              throw badRequest('not this')
            })(),
          )
        const reply = await ask(protocol, `${url}/a`)
        assert.equal(reply.status, 400)
        assert.equal(JSON.parse(reply.body).message, 'not this')
      })

      it('returns a logged 500 with an ID for unexpected errors', async () => {
        handler = async () => {
          throw new Error('secret')
        }
        const reply = await ask(protocol, `${url}/a`)
        assert.equal(reply.status, 500)
        assert.ok(!reply.body.includes('secret'))
        const [logged] = errors as { id: string; error: string }[]
        assert.ok(JSON.parse(reply.body).message.endsWith(logged?.id))
        assert.match(logged?.error ?? '', /secret/)
      })

      it('answers 504 at the deadline, whatever the handler does', async () => {
        requestTimeout = 20
        handler = () => new Promise(() => undefined)
        const reply = await ask(protocol, `${url}/a`)
        assert.equal(reply.status, 504)
        const status = JSON.parse(reply.body)
        assert.equal(status.message, 'Timeout: request did not complete within the allotted timeout')
      })

      it('ends a body that is not read at the deadline', async () => {
        requestTimeout = 50
        const closed = event()
        handler = async () => json(forever(Buffer.alloc(1 << 20), closed.happen))
        const reply = await open(protocol, `${url}/a`)
        await closed.promise
        await assert.rejects(async () => {
          while ((await reply.next()) !== undefined);
        })
      })

      it('refuses bodies above the limit, declared or not, and serves on', async () => {
        handler = async ({ incoming }) => json(await incoming.body(10))
        const body = 'x'.repeat(11)
        for (const headers of [{ 'content-length': '11' }, {}]) {
          const reply = await ask(protocol, `${url}/a`, { method: 'POST', body, headers })
          assert.equal(reply.status, 413)
          assert.match(reply.body, /Request entity too large: limit is 10/)
        }
        const reply = await ask(protocol, `${url}/a`, { method: 'POST', body: 'y' })
        assert.equal(reply.body, 'y')
      })

      it('hands on no credentials and no asserted identity', async () => {
        let seen: Exchange['incoming'] | undefined
        handler = async ({ incoming }) => {
          seen = incoming
          return json(Buffer.from('{}'))
        }
        const headers = {
          authorization: 'Bearer x',
          'x-remote-user': 'root',
          'impersonate-user': 'root',
          accept: '*/*',
        }
        await ask(protocol, `${url}/a?x=1`, { headers })
        assert.deepEqual(
          Object.keys(seen?.headers ?? {}).filter(n => n !== 'host' && n !== 'connection'),
          ['accept'],
        )
        assert.equal(seen?.credentials.headers.authorization, 'Bearer x')
        assert.equal(seen?.impersonates, true)
        assert.equal(seen?.path, '/a')
      })

      it('ends watches whole and finishes answers when it is drained', async () => {
        const go = event()
        const started = event()
        handler = async ({ incoming, lifetime }) => {
          if (incoming.path === '/slow') {
            started.happen()
            await go.promise
            return json(Buffer.from('done'))
          }
          lifetime.limit(undefined)
          lifetime.follow(stopping.signal, 'shutdown')
          return json(endless(lifetime.signal), { flush: true })
        }
        const watch = await open(protocol, `${url}/watch`)
        assert.equal(await watch.next(), 'first\n')
        const slow = ask(protocol, `${url}/slow`)
        await started.promise
        stopping.abort()
        const drained = listener.drain(60_000)
        assert.equal(await watch.next(), undefined)
        go.happen()
        assert.equal((await slow).body, 'done')
        await drained
        await assert.rejects(ask(protocol, `${url}/again`))
      })
    })
  }

  it('closes connections that do not end within the grace period', async () => {
    handler = () => new Promise(() => undefined)
    const asked = ask('HTTP/1.1', `${url}/a`)
    const failed = assert.rejects(asked)
    await listener.drain(10)
    await failed
  })
})

async function* endless(signal: AbortSignal, closed: () => void = () => undefined): AsyncGenerator<Buffer> {
  try {
    yield Buffer.from('first\n')
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    closed()
  }
}

async function* forever(chunk: Buffer, closed: () => void): AsyncGenerator<Buffer> {
  try {
    for (;;) yield chunk
  } finally {
    closed()
  }
}

/** A stream that reports that it was closed. */
const returning = (closed: () => void): AsyncIterable<Buffer> => ({
  [Symbol.asyncIterator]: () => ({
    next: () => new Promise(() => undefined),
    return: async () => {
      closed()
      return { done: true, value: undefined }
    },
  }),
})
