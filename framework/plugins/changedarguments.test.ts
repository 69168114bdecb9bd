import assert from 'node:assert/strict'
import { widget } from '../../test/support/tinyshard.ts'
import { apiSetOf } from '../contract/apis.ts'
import type { ResourceStorage } from '../contract/storage.ts'
import type { Host, VirtualWorkspace } from '../contract/workspace.ts'
import { viewOf } from '../lens/view.ts'
import { badRequest } from '../meta/errors.ts'
import type { KubeObject, ObjectKey } from '../meta/object.ts'
import { as, create, get, plain, serving, start, widgets } from '../testing/serving.ts'
import { type Definition, supervisedIn, widgetsOf } from './testing/supervised.ts'

const ref = { group: 'example.com', version: 'v1', resource: 'widgets' }
const path = `/services/sick/clusters/team${widgets}`
const renamed = (object: object): void => void Object.assign(object, { name: 'other', cluster: 'root' })

const publisher = (publish: (object: KubeObject) => KubeObject): Required<Definition>['publisher'] => ({
  objects: ref,
  dependsOn: [],
  views: () => [],
  publish,
})

describe('arguments that a plugin changes', () => {
  const scene = serving()
  const serve = async (definition: Definition | ((host: Host) => Definition)): Promise<VirtualWorkspace> => {
    const define = typeof definition === 'function' ? definition : () => definition
    const { view } = supervisedIn(scene, import.meta.filename, define)
    await start(scene, [plain(scene), view])
    await create(scene, 'team', 'a')
    return view
  }
  const names = async (): Promise<readonly string[]> => {
    const { json } = await get(scene, `/clusters/*/apis/example.com/v1/widgets`)
    return json.items.map(
      ({ metadata }: KubeObject) => `${metadata.annotations?.['kcp.io/cluster']}/${metadata.name}`,
    )
  }
  const posted = (name: string) =>
    as('reader', { method: 'POST', body: JSON.stringify(widget('default', name)) })

  it('publishes the status and the annotations of an object only', async () => {
    const { publisher: published } = await serve({
      publisher: publisher(object => {
        renamed(object.metadata)
        Object.assign(object.metadata, { annotations: { url: 'https://a' }, labels: { a: 'b' } })
        return Object.assign(object, { spec: { color: 'red' }, status: { url: 'https://a' } })
      }),
    })
    const object = widget('default', 'a')
    const metadata = { ...object.metadata, annotations: { url: 'https://a' } }
    assert.deepEqual(published?.publish(object, []), { ...object, metadata, status: { url: 'https://a' } })
    assert.equal(object.metadata.name, 'a')
  })

  it('keeps the members that select what is published', async () => {
    const { publisher: published } = await serve({
      publisher: {
        ...publisher(object => object),
        isOnlyHere: true,
        dependents: () => [],
        published: ({ metadata }) => [metadata.name ?? ''],
        shardSelector: () => 'region=eu',
      },
    })
    const object = widget('default', 'a')
    assert.equal(published?.isOnlyHere, true)
    assert.deepEqual(published?.dependents?.(object), [])
    assert.deepEqual(published?.published?.(object), ['a'])
    assert.equal(published?.shardSelector?.(object), 'region=eu')
  })

  it('publishes nothing in an object whose status it leaves', async () => {
    const { publisher: published } = await serve({
      publisher: publisher(object => {
        renamed(object.metadata)
        return object
      }),
    })
    const object = widget('default', 'a')
    assert.equal(published?.publish(object, []), object)
  })

  for (const member of ['mutate', 'validate'] as const)
    it(`writes the object of the request (${member})`, async () => {
      const changing = async (_: unknown, { key, object }: { key: ObjectKey; object?: KubeObject }) => {
        renamed(key)
        return member === 'mutate' ? object : undefined
      }
      await serve({ admission: [{ [member]: changing }] })
      assert.equal((await get(scene, path, posted('b'))).status, 201)
      assert.deepEqual(await names(), ['team/a', 'team/b'])
    })

  it('lists an object whose key its storage has changed', async () => {
    await serve(host => {
      const resource = widgetsOf(host)
      const { storage } = resource
      const changing: ResourceStorage = {
        ...storage,
        list: (ctx, query) => viewOf(storage, () => ({})).list(ctx, query),
        delete: async (_, key) => {
          renamed(key)
          throw badRequest('not now')
        },
      }
      const apis = apiSetOf([{ ...resource, storage: changing }])
      return { apis: () => apis }
    })
    const { status } = await get(scene, path, as('reader', { method: 'DELETE' }))
    assert.equal(status, 400)
    assert.deepEqual((await get(scene, `/clusters/team${widgets}`)).json.items.length, 1)
  })

  it('deletes the object of the request', async () => {
    await serve({ admission: [{ admitDeletion: async (_, { key }) => renamed(key) }] })
    const { status } = await get(scene, `${path}/a`, as('reader', { method: 'DELETE' }))
    assert.equal(status, 200)
    assert.deepEqual(await names(), [])
  })
})
