import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { inOneVersion } from '../../../framework/contract/admission.ts'
import { createAddressPolicy } from '../../../framework/net/addresspolicy.ts'
import { testContext } from '../../../test/support/context.ts'
import type { Subject } from '../policies/matching.ts'
import type { Webhook } from './configuration.ts'
import { webhookClient } from './review.ts'

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } }

const subject: Subject = {
  ctx: testContext(),
  user: testContext().actAs,
  request: {
    group: '',
    resource: 'configmaps',
    ...inOneVersion('v1'),
    subresource: '',
    operation: 'CREATE',
    key: { cluster: 'one', namespace: 'default', name: 'a' },
    object,
    dryRun: false,
  },
  namespaceOf: () => undefined,
}

const webhook = (url: string, more: Partial<Webhook> = {}): Webhook => ({
  name: 'a.example.com',
  clientConfig: { url },
  ...more,
})

describe('webhooks of tenants', () => {
  let server: Server
  let port = 0
  let connections = 0
  const ask = webhookClient(createAddressPolicy({ allow: [] }))

  before(async () => {
    server = createServer(socket => {
      connections++
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  })
  after(() => server.close())

  it('are not called at private addresses, by address or by name', async () => {
    for (const [url, why] of [
      [`https://127.0.0.1:${port}/`, /its url is refused: its host 127.0.0.1 has no public address/],
      [`https://localhost:${port}/`, /: its host localhost has no public address/],
      [
        'https://169.254.169.254/latest',
        /its url is refused: its host 169.254.169.254 has no public address/,
      ],
      [`http://example.com:${port}/`, /its url is refused: its scheme is not https/],
      ['https://user:pass@example.com/', /its url is refused: it has credentials in it/],
    ] as const)
      await assert.rejects(ask('validating', webhook(url), subject), {
        code: 500,
        message: new RegExp(
          `^Internal error occurred: failed calling webhook "a.example.com": .*${why.source}`,
        ),
      })
    assert.equal(connections, 0)
  })

  it('are skipped with failurePolicy Ignore, without a connection', async () => {
    const url = `https://localhost:${port}/`
    assert.equal(await ask('mutating', webhook(url, { failurePolicy: 'Ignore' }), subject), undefined)
    assert.equal(connections, 0)
  })

  it('are called at hosts that the operator allows', async () => {
    const allowed = webhookClient(createAddressPolicy({ allow: ['127.0.0.1'] }))
    await assert.rejects(
      allowed('validating', webhook(`https://127.0.0.1:${port}/`), subject),
      /failed calling webhook/,
    )
    assert.equal(connections, 1)
  })
})
