import assert from 'node:assert/strict'
import { type HttpRequest, readRequest } from './incoming.ts'

/** A request over HTTP/2, whose headers begin with the method and the path. */
function requestOn(session: object, { method = 'GET', url = '/', token = 'a' } = {}): HttpRequest {
  const rawHeaders = [':authority', 'localhost', ':method', method, ':path', url]
  rawHeaders.push('authorization', `Bearer ${token}`)
  const headers = {
    ':authority': 'localhost',
    ':method': method,
    ':path': url,
    authorization: `Bearer ${token}`,
  }
  const socket = { remoteAddress: '127.0.0.1' }
  return { method, url, headers, rawHeaders, stream: { session }, socket } as unknown as HttpRequest
}

describe('reading requests of one HTTP/2 connection', () => {
  const session = {}
  const read = (more = {}) => readRequest(requestOn(session, more), {})
  const first = read({ url: '/clusters/root/a' })

  it('shares the headers of the request before, whatever its method and path', () => {
    const second = read({ method: 'DELETE', url: '/clusters/root/b' })
    assert.equal(second.credentials, first.credentials)
    assert.equal(second.headers, first.headers)
    assert.deepEqual([second.method, second.path], ['DELETE', '/clusters/root/b'])
  })

  it('does not share those of a request with other credentials', () => {
    const other = read({ url: '/clusters/root/a', token: 'b' })
    assert.notEqual(other.credentials, first.credentials)
    assert.equal(other.credentials.headers.authorization, 'Bearer b')
  })
})
