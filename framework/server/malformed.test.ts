import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { type Logger, silent } from '../contract/log.ts'
import { type Listener, listen } from './listener.ts'

describe('invalid requests', () => {
  const logged: object[] = []
  const log: Logger = { ...silent, debug: fields => void logged.push(fields) }
  let listener: Listener
  let answering: ((response: ServerResponse) => void) | undefined

  before(async () => {
    listener = await listen({ host: '127.0.0.1', port: 0, log }, (_request, response) =>
      answering?.(response),
    )
  })
  after(() => listener.drain(0))
  beforeEach(() => {
    logged.length = 0
  })

  /** All data until the connection is closed. */
  async function told(sent: string, andThen = ''): Promise<string> {
    const socket = connect(listener.port, '127.0.0.1').setEncoding('utf8')
    socket.on('error', () => undefined)
    let text = ''
    socket.on('data', piece => {
      text += piece
      if (andThen !== '') socket.write(andThen)
    })
    socket.write(sent)
    await once(socket, 'close')
    return text
  }
  const codes = (): readonly unknown[] => logged.map(fields => (fields as { error: unknown }).error)

  it('are refused with the status as text, and logged', async () => {
    assert.match(
      await told('\x16\x03nonsense\r\n\r\n'),
      /^HTTP\/1.1 400 Bad Request\r\nContent-Type: text\/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request$/,
    )
    assert.equal(codes().length, 1)
  })

  it('get an error for too long headers', async () => {
    const long = `GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${'a'.repeat(60_000)}\r\n\r\n`
    assert.match(await told(long), /^HTTP\/1.1 431 Request Header Fields Too Large\r\n/)
    assert.deepEqual(codes(), ['HPE_HEADER_OVERFLOW'])
  })

  it('becomes no part of an answer that is on its way', async () => {
    answering = response => {
      response.writeHead(200)
      response.write('first')
    }
    const text = await told('GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'nonsense\r\n\r\n')
    assert.match(text, /first/)
    assert.doesNotMatch(text, /400/)
    assert.equal(codes().length, 1)
  })
})
