import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { post } from '../conformance/fixture.ts'
import { type Client, clientOf } from '../support/client.ts'
import { discard, type Oriel, startOriel } from '../support/oriel.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { configAt } from '../support/watcher.ts'

const path = '/clusters/root/api/v1/namespaces/default/configmaps'
const configMap = (name: string, finalizers: readonly string[] = []): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, finalizers: [...finalizers] },
})
const patch = (body: object) => ({
  method: 'PATCH',
  body,
  headers: { 'content-type': 'application/merge-patch+json' },
})

describe('an almost full disk', function () {
  this.timeout(120_000)
  let directory: string
  let oriel: Oriel
  let client: Client

  const open = async (...args: readonly string[]): Promise<void> => {
    oriel = await startOriel({ directory, args })
    client = await clientOf(configAt(oriel, oriel.url))
  }
  const close = async (): Promise<void> => {
    client.close()
    assert.equal(await oriel.stop(), 0)
  }
  before(async () => {
    directory = await temporaryDirectory('little')
    await open()
    for (const object of [configMap('a'), configMap('held', ['example.com/hold'])])
      assert.equal((await client(path, post(object))).status, 201)
    await close()
    await open('--store-min-free', '9999Ti')
  })
  after(() => discard(oriel))

  it('does not end the server, which refuses writes with 507', async () => {
    const created = await client(path, post(configMap('b')))
    assert.equal(created.status, 507)
    const { reason, message } = created.json()
    assert.equal(reason, 'InsufficientStorage')
    assert.equal(message, 'the disk of the server is almost full: only deletions are accepted')
    assert.equal((await client(`${path}/a`, patch({ data: { a: 'b' } }))).status, 507)
    assert.match(oriel.output(), /less disk space is free than --store-min-free/)
  })

  it('allows reads and deletions, also of objects with finalizers', async () => {
    assert.equal((await client(path)).status, 200)
    assert.equal((await client(`${path}/a`, { method: 'DELETE' })).status, 200)
    assert.equal((await client(`${path}/held`, { method: 'DELETE' })).status, 200)
    assert.equal((await client(`${path}/held`)).status, 200)
    assert.equal((await client(`${path}/held`, patch({ data: { more: 'x'.repeat(10_000) } }))).status, 507)
    assert.equal((await client(`${path}/held`, patch({ metadata: { finalizers: null } }))).status, 200)
    assert.equal((await client(`${path}/held`)).status, 404)
  })

  it('accepts writes again when there is space', async () => {
    await close()
    await open()
    assert.equal((await client(path, post(configMap('b')))).status, 201)
  })
})
