import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { testContext } from '../test/support/context.ts'
import { createShardClient } from './shardclient.ts'

/** Writes until the connection is closed. */
function endless(response: ServerResponse): void {
  const chunk = Buffer.alloc(256 * 1024, ' ')
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', more)
  more()
}

/** A server for the tests of a suite. Returns its URL, from the first test on. */
function serving(listener: RequestListener): () => string {
  const server = createServer(listener)
  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a shard whose response has no end', () => {
  let status = 200
  const urlOf = serving((_, response) => {
    response.writeHead(status)
    endless(response)
  })

  for (const [what, code] of [
    ['document', 200],
    ['error', 500],
    ['refusal', 410],
  ] as const)
    it(`is refused: ${what}`, async () => {
      status = code
      const client = createShardClient({ server: urlOf() })
      const { signal } = new AbortController()
      await assert.rejects(client.get('/clusters/root/x', signal), /too large/)
      await client.close()
    })
})

describe('a shard that falls silent', () => {
  const urlOf = serving(({ url = '' }, response) => {
    const isWatch = url.includes('watch=true')
    response.write(
      isWatch ? '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8"}}}\n' : '{"items":[',
    )
  })
  const resource = { group: 'example.com', version: 'v1', resource: 'widgets' }
  const query = { cluster: '*', resourceVersion: '7', initialEvents: false, bookmarks: true } as const

  it('is asked again by informers: its watches and lists fail', async () => {
    const client = createShardClient({ server: urlOf() }, undefined, 100)
    const storage = client.storage(resource)
    const ctx = testContext({ cluster: '*' })
    const events = storage.watch(ctx, query)
    assert.equal((await events.next()).value?.length, 1)
    await assert.rejects(events.next(), { code: 504 })
    await assert.rejects(storage.list(ctx, { cluster: '*' }).next(), { code: 504 })
    await client.close()
  })
})

describe('a shard that rejects the credentials of the proxy', () => {
  const urlOf = serving((_, response) => {
    response.writeHead(401)
    response.end(JSON.stringify({ kind: 'Status', code: 401, message: 'Unauthorized' }))
  })
  it('does not say that those of the client are wrong, which would end its watches', async () => {
    const client = createShardClient({ server: urlOf() })
    const { signal } = new AbortController()
    await assert.rejects(client.post('/clusters/root/x', {}, signal), { code: 502 })
    await client.close()
  })
})

describe('a client of a shard', () => {
  it('does not end its process when its credentials change after it was closed', async () => {
    let credentials = { token: 'first' }
    const unhandled: unknown[] = []
    const note = (error: unknown): void => void unhandled.push(error)
    const others = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', note)
    try {
      const client = createShardClient({ server: 'http://127.0.0.1:1' }, () => credentials)
      const { signal } = new AbortController()
      await assert.rejects(client.get('/version', signal))
      await client.close()
      credentials = { token: 'second' }
      await assert.rejects(client.get('/version', signal))
      await new Promise(resolve => setImmediate(resolve))
      assert.deepEqual(unhandled, [])
      await client.close()
    } finally {
      process.removeAllListeners('unhandledRejection')
      for (const other of others) process.on('unhandledRejection', other)
    }
  })
})
