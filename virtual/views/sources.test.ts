import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { ownView, Scene } from './testing/scene.ts'
import type { ViewObject } from './types.ts'

const crd: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
    scope: 'Cluster',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

const things = '/services/views/one/things/clusters/one/apis/example.com/v1/things'
const isReady = ({ status }: ViewObject): string | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.status

describe('a View whose source comes and goes', () => {
  let scene: Scene
  before(async () => {
    scene = await Scene.start()
  })
  after(() => scene.oriel.close())

  it('becomes ready when the workspace has the resource, and not ready when it is gone', async () => {
    const view = await scene.view(
      ownView('things', { group: 'example.com', resource: 'things', verbs: ['list', 'watch'] }),
    )
    assert.equal(isReady(view), 'False')
    assert.equal((await scene.admin.request(things)).status, 404)
    await scene.oriel.cluster('one', crd)
    await scene.status('things', found => isReady(found) === 'True')
    assert.deepEqual(await scene.admin.list(things), [])
    const path = '/clusters/one/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com'
    const { status, text } = await scene.admin.request(path, { method: 'DELETE' })
    assert.equal(status, 200, text)
    await scene.admin.request(path, { method: 'PATCH', body: { metadata: { finalizers: null } } })
    const gone = await scene.status('things', found => isReady(found) === 'False')
    const source = gone.status?.conditions?.find(({ type }) => type === 'SourceReady')
    assert.match(
      source?.message ?? '',
      /spec.resources\[0\]: the source does not have the resource "things.example.com"/,
    )
    assert.equal((await scene.admin.request(things)).status, 404)
  })
})
