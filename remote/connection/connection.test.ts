import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Logger, silent } from '../../framework/contract/log.ts'
import { connectShard, type ShardConnection } from './connection.ts'

describe('the connection to a shard', () => {
  let server: Server
  let connection: ShardConnection
  let url: string
  /** Responses to the earlier token, which the test ends. */
  const waiting: ServerResponse[] = []
  const lines: string[] = []
  const log: Logger = {
    ...silent,
    warn: (_, text) => void lines.push(text),
    error: (_, text) => void lines.push(text),
  }

  before(async () => {
    server = createServer(({ headers, url }, response) => {
      const warnings = Array.from({ length: Number(url?.slice(1)) }, (_, i) => `299 - "${i}"`)
      if (headers['impersonate-user'] === 'webhook') response.writeHead(401).end('{}')
      else if (headers.authorization === 'Bearer later') response.setHeader('warning', warnings).end('{}')
      else waiting.push(response)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    connection = connectShard({ server: url, token: 'earlier' }, log)
  })
  after(async () => {
    await connection.close()
    server.close()
  })

  const ask = (target = '/', user?: string) => {
    const headers = user === undefined ? {} : { 'impersonate-user': user }
    return connection.send({ method: 'GET', target, headers, signal: new AbortController().signal }).then(
      async ({ statusCode, body }) => {
        await body.dump()
        return statusCode
      },
      ({ code }) => code as number,
    )
  }
  const refuse = () => waiting.shift()?.writeHead(401).end()

  it('does not take responses to earlier credentials for responses to the present ones', async () => {
    const [first, second] = [ask(), ask()]
    while (waiting.length < 2) await once(server, 'request')
    refuse()
    assert.equal(await first, 502)
    connection.use({ server: url, token: 'later' })
    assert.equal(await ask(), 200)
    refuse()
    assert.equal(await second, 502)
    assert.equal(connection.reach.isGood(), true)
    assert.deepEqual(
      lines.map(line => line.replace(url, '')),
      [
        'the shard  cannot be used: it rejects the credentials in the kubeconfig: renew the client certificate or token',
        'the shard  can be used again',
      ],
    )
  })

  it('stays usable whatever a webhook of a tenant makes the shard answer to a user', async () => {
    connection.use({ server: url, token: 'later' })
    lines.length = 0
    // As many warnings as a shard sends.
    assert.equal(await ask('/4096', 'ada'), 200)
    assert.equal(await ask('/', 'webhook'), 502)
    assert.equal(connection.reach.isGood(), true)
    assert.equal(await ask('/100000', 'ada'), 502)
    assert.equal(connection.reach.isGood(), true)
    assert.deepEqual(lines, [])
  })
})
