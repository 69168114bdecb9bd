import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, type RequestListener, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { openPort, type Port } from './listener.ts'

describe('an open port', () => {
  let port: Port
  const echo: RequestListener = (asked, response) => {
    response.setHeader('path', asked.url ?? '')
    asked.pipe(response)
  }
  const answering = { request: echo, upgrade: echo }

  beforeEach(async () => {
    port = await openPort({ host: '127.0.0.1', port: 0 })
  })
  afterEach(() => port.drain(0))

  const ask = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    request(`${port.url}${path}`, { method: 'POST', agent: false, headers })

  async function answer(call: ReturnType<typeof ask>, body = ''): Promise<string> {
    call.end(body)
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    return `${response.headers.path}: ${await text(response)}`
  }

  it('lets requests wait, with their bodies, until the server is ready', async () => {
    const calls = ['/a', '/b'].map(path => ask(path, { expect: '100-continue' }))
    for (const call of calls) call.flushHeaders()
    // The server has them.
    await Promise.all(calls.map(call => once(call, 'continue')))
    port.answer(answering)
    assert.deepEqual(await Promise.all(calls.map(call => answer(call, 'body'))), ['/a: body', '/b: body'])
    assert.equal(await answer(ask('/c'), 'later'), '/c: later')
  })

  it('hands over upgrade requests, early ones too', async () => {
    const headers = { connection: 'upgrade', upgrade: 'example' }
    const early = answer(ask('/early', headers))
    await once(
      ask('/seen', { expect: '100-continue' })
        .on('error', () => undefined)
        .end(),
      'continue',
    )
    port.answer(answering)
    assert.equal(await early, '/early: ')
    assert.equal(await answer(ask('/late', headers)), '/late: ')
  })

  it('has the address of the port', () => {
    assert.equal(port.address, `127.0.0.1:${port.port}`)
    assert.equal(port.url, `http://${port.address}`)
  })

  it('is refused when it is taken', () =>
    assert.rejects(openPort({ host: '127.0.0.1', port: port.port }), { code: 'EADDRINUSE' }))
})
