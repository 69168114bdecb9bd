import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { type Installation, startInstallation, type TestUser } from '../../testing/index.ts'
import owned from './owned.ts'

const configMap = (name: string, namespace = 'default'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels: { app: name } },
})
const namespace = (name: string, owner: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { owner, secret: 'sesame' } },
})
const all = '/services/owned/clusters/*/api/v1/configmaps'
const maps = '/services/owned/clusters/one/api/v1/namespaces/default/configmaps'
const ownerOf = ({ metadata }: KubeObject): unknown => metadata.annotations?.['example.com/owner']

describe('the example owned', () => {
  let oriel: Installation
  let admin: TestUser
  const label = async (owner: string | null, of = 'default'): Promise<KubeObject> => {
    const body = { metadata: { labels: { owner } } }
    const { object } = await admin.request(`/clusters/one/api/v1/namespaces/${of}`, { method: 'PATCH', body })
    assert.ok(object !== undefined)
    return object
  }
  const get = async (name = 'a'): Promise<KubeObject> => {
    const { object } = await admin.request(`${maps}/${name}`)
    assert.ok(object !== undefined)
    return object
  }

  beforeEach(async () => {
    oriel = await startInstallation({ plugins: [owned] })
    admin = oriel.as({ name: 'admin', groups: ['system:masters'] })
    await oriel.cluster(
      'one',
      namespace('other', 'red'),
      configMap('a'),
      configMap('b'),
      configMap('c', 'other'),
    )
    await oriel.cluster('two', configMap('d'))
    await label('ops')
  })
  afterEach(() => oriel.close())

  it('shows the value of the namespace of the same logical cluster, and nothing else of it', async () => {
    const found = await admin.list(all)
    assert.deepEqual(
      found.map(each => [each.metadata.name, ownerOf(each)]),
      [
        ['a', 'ops'],
        ['b', 'ops'],
        ['c', 'red'],
        ['d', undefined],
      ],
    )
    assert.ok(!JSON.stringify(found).includes('sesame'))
    assert.equal(ownerOf(await get()), 'ops')
  })

  it('has one MODIFIED event for each object whose value changes, with the resourceVersion of the change', async () => {
    const watch = await admin.watch(all)
    await watch.until(events => events.length === 4)
    const before = watch.events.length
    await label('ops')
    const { metadata } = await label('red')
    const events = (await watch.until(({ length }) => length === before + 2)).slice(before)
    assert.deepEqual(
      events.map(({ type, object }) => [type, object.metadata.name, ownerOf(object)]),
      [
        ['MODIFIED', 'a', 'red'],
        ['MODIFIED', 'b', 'red'],
      ],
    )
    for (const { object } of events) assert.equal(object.metadata.resourceVersion, metadata.resourceVersion)
    assert.equal((await get()).metadata.resourceVersion, metadata.resourceVersion)
    await label(null)
    const last = (await watch.until(({ length }) => length === before + 4)).slice(before + 2)
    assert.deepEqual(
      last.map(({ object }) => ownerOf(object)),
      [undefined, undefined],
    )
    watch.close()
  })

  it('applies the namespace and the selectors of the client to the changes', async () => {
    const watch = await admin.watch(`${maps}?labelSelector=app%3Db`)
    await watch.until(events => events.length === 1)
    await label('blue', 'other')
    await label('red')
    await label('blue')
    await watch.until(events => events.length === 3)
    assert.deepEqual(watch.lines(), ['ADDED b', 'MODIFIED b', 'MODIFIED b'])
    watch.close()
  })

  it('sends the changes since the resourceVersion of a resumed watch', async () => {
    const { object } = await admin.request(maps)
    const { resourceVersion } = object?.metadata ?? {}
    await label('red')
    await label('blue')
    const watch = await admin.watch(`${maps}?resourceVersion=${resourceVersion}`)
    await watch.until(events => events.some(each => ownerOf(each.object) === 'blue'))
    const [latest] = watch.events.slice(-1)
    const again = await admin.watch(`${maps}?resourceVersion=${latest?.object.metadata.resourceVersion}`)
    await label('green')
    await again.until(events => events.length > 0)
    assert.equal(ownerOf(again.events[0]?.object as KubeObject), 'green')
    for (const each of [watch, again]) each.close()
    const old = await admin.request(`${maps}?watch=true&resourceVersion=1`)
    assert.match(old.text, /"code":410/)
  })

  it('stores no value, and refuses writes only if the object itself has changed', async () => {
    const read = await get()
    await label('red')
    const data = { word: 'written' }
    const put = (object: KubeObject) => admin.request(`${maps}/a`, { method: 'PUT', body: object })
    const written = await put({ ...read, data } as KubeObject)
    assert.deepEqual([written.status, written.object && ownerOf(written.object)], [200, 'red'], written.text)
    assert.equal((await put({ ...read, data: {} } as KubeObject)).status, 409)
    const stored = await admin.request('/clusters/one/api/v1/namespaces/default/configmaps/a')
    assert.deepEqual([stored.object?.data, stored.object && ownerOf(stored.object)], [data, undefined])
    const precondition = (version: string | undefined) =>
      admin.request(`${maps}/a`, {
        method: 'DELETE',
        body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { resourceVersion: version } },
      })
    assert.equal((await precondition(read.metadata.resourceVersion)).status, 409)
    assert.equal((await precondition((await get()).metadata.resourceVersion)).status, 200)
  })

  it('has the events of the objects themselves, with the value', async () => {
    const watch = await admin.watch(`${maps}?fieldSelector=metadata.name%3De`)
    const body = configMap('e')
    await admin.request(maps, { method: 'POST', body })
    await watch.until(events => events.length === 1)
    await label('red')
    await watch.until(events => events.length === 2)
    await admin.request(`${maps}/e`, { method: 'DELETE' })
    await watch.until(events => events.length === 3)
    assert.deepEqual(
      watch.events.map(({ type, object }) => [type, ownerOf(object)]),
      [
        ['ADDED', 'ops'],
        ['MODIFIED', 'red'],
        ['DELETED', 'red'],
      ],
    )
    watch.close()
  })
})
