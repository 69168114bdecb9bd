import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { open } from '../../test/support/wire.ts'
import { allow } from '../contract/authorizer.ts'
import { outbound, portOf } from '../net/testing/service.ts'
import { as, get, plain, refused, serving, start } from '../testing/serving.ts'

const flows = '/debug/api_priority_and_fairness/flows'

describe('a server with few seats', () => {
  const scene = serving()

  it('has only so many watches of a user, and others have theirs', async () => {
    await start(scene, [plain(scene)], { limits: { reading: 1, mutating: 1, watching: 2 } })
    const path = `${scene.server.url}/clusters/root/apis/example.com/v1/widgets?watch=1`
    const first = await open('HTTP/1.1', path, as('reader'))
    assert.equal(first.status, 200)
    const second = await open('HTTP/1.1', path, as('reader'))
    assert.deepEqual([second.status, second.headers['retry-after']], [429, '1'])
    const other = await open('HTTP/1.1', path, as('admin'))
    assert.equal(other.status, 200)
    const { json } = await get(scene, flows)
    const { lastRejected, ...found } = json.flows.find(({ user }: { user: string }) => user === 'reader')
    const counts = { executing: 1, waiting: 0, stalled: 0, rejected: 1 }
    assert.deepEqual(found, { priorityLevel: 'longRunning', user: 'reader', workspace: '/root', ...counts })
    assert.ok(Date.parse(lastRejected) <= Date.now())
    first.leave()
    other.leave()
  })

  it('has only so many requests of a user for mounted servers, which may keep them', async () => {
    const waiting: ServerResponse[] = []
    const silent = createServer((_, response) => waiting.push(response)).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { signal } = new AbortController()
    const target = { url: `http://127.0.0.1:${portOf(silent)}`, identity: 'None', rest: '' } as const
    const place = () => ({ kind: 'URL', parent: 'root', changed: signal, ...target }) as const
    const authorizer = { authorize: async () => allow('') }
    const backend = { ...scene.shard, place, authorizer }
    await start(scene, [plain(scene)], {
      limits: { reading: 1, mutating: 1, watching: 2 },
      backend,
      outbound,
    })
    const path = `${scene.server.url}/clusters/root:remote/api`
    const first = open('HTTP/1.1', path, as('reader'))
    await once(silent, 'request')
    const second = await open('HTTP/1.1', path, as('reader'))
    assert.deepEqual([second.status, second.headers['retry-after']], [429, '1'])
    const other = open('HTTP/1.1', path, as('admin'))
    await once(silent, 'request')
    for (const response of waiting) response.end()
    assert.deepEqual([(await first).status, (await other).status], [200, 200])
    silent.closeAllConnections()
    silent.close()
  })

  it('tells about the requests of users to privileged users only', async () => {
    await start(scene)
    const text = `forbidden: User "system:anonymous" cannot get path "${flows}": access denied`
    await refused(scene, flows, 403, text, {})
  })
})
