import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Protocol } from '../../test/support/wire.ts'
import { allow, deny } from '../contract/authorizer.ts'
import { pathPattern } from '../request/path.ts'
import { as, get, refused, serving, start } from '../testing/serving.ts'

const protocols: readonly Protocol[] = ['HTTP/1.1', 'HTTP/2']

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

describe('the HTTP requests of a view', () => {
  const scene = serving()
  const view = (http: (request: IncomingMessage, response: ServerResponse) => unknown) => ({
    name: 'plain',
    path: pathPattern('/services/plain/:of'),
    apis: () => undefined,
    authorize: async ({ user }: { readonly user: { readonly name: string } }) =>
      user.name === 'reader' ? allow('the reader') : deny('not the reader'),
    http: async (_: unknown, request: IncomingMessage, response: ServerResponse) =>
      void (await http(request, response)),
  })
  const path = '/services/plain/x/clusters/one'
  const asReader = (more = {}) => as('reader', more)

  for (const protocol of protocols)
    it(`have a body, a path below the logical cluster, and no credentials, over ${protocol}`, async () => {
      const seen: unknown[] = []
      await start(scene, [
        view(async (request, response) => {
          const { method, url, headers, rawHeaders } = request
          const all = JSON.stringify([headers, rawHeaders]).toLowerCase()
          seen.push(method, url, all.includes('reader'), all.includes('authorization'), headers['x-own'])
          response.setHeader('x-answer', 'yes')
          response.end(`got ${(await textOf(request)).length}`)
        }),
      ])
      const body = 'x'.repeat(300_000)
      const sent = asReader({ method: 'POST', body, headers: { 'x-own': 'kept' } })
      const { status, headers, body: answer } = await get(scene, `${path}/report?by=a`, sent, protocol)
      assert.deepEqual([status, answer, headers['x-answer']], [200, 'got 300000', 'yes'])
      assert.ok(headers['audit-id'])
      assert.deepEqual(seen, ['POST', '/report?by=a', false, false, 'kept'])
      const again = await get(scene, `${path}/report`, asReader(), protocol)
      assert.equal(again.body, 'got 0')
    })

  it('are authorized before', async () => {
    let calls = 0
    await start(scene, [view((_, response) => response.end(String(++calls)))])
    await refused(scene, `${path}/report`, 403, /not the reader/, as('crash'))
    assert.equal(calls, 0)
  })

  it('are 500 after an error, and the next request is answered', async () => {
    await start(scene, [
      view((request, response) => {
        if (request.url === '/good') return response.end('good')
        throw new Error('no luck')
      }),
    ])
    assert.equal((await get(scene, `${path}/bad`, asReader())).status, 500)
    assert.equal((await get(scene, `${path}/good`, asReader())).body, 'good')
  })

  it('close the connection if the view fails in the middle of its response', async () => {
    await start(scene, [
      view((_, response) => {
        response.writeHead(200, { 'content-length': 100 })
        response.write('partial')
        throw new Error('no luck')
      }),
    ])
    await assert.rejects(get(scene, `${path}/bad`, asReader()))
  })

  it('have bodies that the view need not read', async () => {
    await start(scene, [view((_, response) => response.end('ignored'))])
    const sent = asReader({ method: 'POST', body: 'x'.repeat(200_000) })
    for (let i = 0; i < 3; i++) assert.equal((await get(scene, `${path}/report`, sent)).body, 'ignored')
  })

  it('are not those of resources', async () => {
    await start(scene, [view((_, response) => response.end('plain'))])
    assert.equal((await get(scene, `${path}/apis/example.com/v1/widgets`, asReader())).status, 404)
  })
})
