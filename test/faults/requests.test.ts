import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { fixture } from '../conformance/fixture.ts'
import { type Client, clientOf, readReply, type Sent } from '../support/client.ts'
import { discard, type Oriel, startOriel } from '../support/oriel.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import {
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../support/tenants.ts'
import { configAt, userAt } from '../support/watcher.ts'
import { below, body, header, query } from './oddrequests.ts'

/**
 * Responses with 5xx of Kubernetes itself: future resourceVersions, and Scales of objects without replicas (rules.md 4.8
 * and 7.59).
 */
const isKubernetesOwn = (text: string): boolean =>
  /Too large resource version|the spec replicas field .* does not exist/.test(text)

/** `MUTATED_REQUESTS=1000000` for a run by hand. */
const requests = Number(process.env.MUTATED_REQUESTS ?? 1_500)

/** What blocked the event loop, by its resource, for a run by hand: a test does not assert times. */
function holdsIn(metrics: string): string {
  const lines = metrics.split('\n').filter(line => line.startsWith('oriel_request_event_loop_hold_seconds'))
  return lines.filter(line => /_count|le="0.05"|le="0.1"/.test(line) && !line.endsWith(' 0')).join('\n')
}

interface Asked {
  readonly method: string
  readonly below: string
}

/**
 * Whether a member of `system:masters` takes the roles of the shard away, with which all administrators have their permissions, as
 * in Kubernetes: without the administrator, the other requests test little.
 */
const deletesRoles = ({ method, below: path }: Asked): boolean =>
  method === 'DELETE' && /\/clusterroles\/*$/.test(path)

describe('mutated requests', function () {
  this.timeout(120_000 + requests * 50)
  let oriel: Oriel
  let clients: readonly Client[]
  let prefixes: readonly string[]
  before(async () => {
    const directory = await temporaryDirectory('requests')
    const file = join(directory, 'tokens.csv')
    await writeFile(file, 'alice-token,alice,1\n')
    oriel = await startOriel({ directory, args: ['--token-auth-file', file, '--store', 'memory:'] })
    const [provider, consumer] = (await createWorkspaces(oriel, ['provider', 'consumer'])) as [Tenant, Tenant]
    const name = await exportApi(provider, fixture, [{ group: '', resource: 'configmaps' }])
    const claim = {
      group: '',
      resource: 'configmaps',
      verbs: ['*'],
      selector: { matchAll: true },
      state: 'Accepted',
    }
    await bind(consumer, bindingOf(provider, name, [claim]))
    const view = new URL(await publishedUrl(provider, name)).pathname
    const at = '/clusters/root:consumer'
    prefixes = [
      at,
      at,
      '/clusters/*',
      `${view}/clusters/*`,
      `${view}/clusters/${consumer.cluster}`,
      '',
      '/clusters/root:nothing',
      '/services/x/clusters/*',
    ]
    clients = await Promise.all([
      clientOf(configAt(oriel, oriel.url)),
      clientOf(configAt(oriel, oriel.url, 'shard-base')),
      clientOf(userAt(oriel, oriel.url, 'alice-token')),
      clientOf(userAt(oriel, oriel.url)),
    ])
  })
  after(() => discard(oriel))

  /** The response, without waiting for the end of a watch. */
  async function answer(client: Client, url: string, sent: Sent): Promise<{ status: number; text: string }> {
    const response = await client.open(url, sent)
    const isStream = response.statusCode === 200 && response.headers['content-length'] === undefined
    if (isStream || response.headers['content-encoding'] !== undefined) {
      response.destroy()
      return { status: response.statusCode ?? 0, text: '' }
    }
    return readReply(response)
  }

  it('get a response without a server error, and the server continues', async () => {
    const method = fc.constantFrom('GET', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS')
    const request = fc.record({
      who: fc.nat(3),
      prefix: fc.nat(7),
      below,
      query,
      method,
      headers: fc.array(header, { maxLength: 3 }),
      body,
    })
    await fc.assert(
      fc.asyncProperty(request, async asked => {
        fc.pre(!deletesRoles(asked))
        const url = `${prefixes[asked.prefix]}${asked.below}${asked.query && `?${asked.query}`}` || '/'
        const headers = Object.fromEntries(asked.headers.map(({ name, text }) => [name, text]))
        const sent = { method: asked.method, headers, ...(asked.method !== 'HEAD' && { body: asked.body }) }
        const client = clients[asked.who] as Client
        const { status, text: told } = await answer(client, url, sent)
        // The response to HEAD has no message; GET has one, but may be a watch, which fails for other reasons.
        const isHead = asked.method === 'HEAD'
        const text = isHead ? (await answer(client, url, { headers })).text : told
        assert.ok((status >= 200 && status < 500) || isKubernetesOwn(text), `${status} ${text}`)
        if (!isHead && status >= 400 && /\/apis?\//.test(url) && /^\{/.test(text))
          assert.equal(JSON.parse(text).code ?? status, status)
      }),
      { numRuns: requests },
    )
    assert.doesNotMatch(oriel.output(), /"level":50/)
    const [admin, base] = clients as [Client, Client]
    assert.equal((await admin('/clusters/root:consumer/api/v1/namespaces')).status, 200)
    if (process.env.MUTATED_REQUESTS !== undefined) console.log(holdsIn((await base('/metrics')).text))
    assert.equal(await oriel.stop(), 0)
  })
})
