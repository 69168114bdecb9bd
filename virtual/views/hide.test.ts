import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { everything, ownView, Scene } from './testing/scene.ts'

const secret = 'sesame'
const hidden = Buffer.from(secret).toString('base64')
const manifest = { apiVersion: 'v1', kind: 'Secret', data: { password: hidden }, type: 'Opaque' }
const applied = JSON.stringify(manifest)
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

const stored: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: 'a',
    labels: { shown: 'yes', rank: secret },
    annotations: { note: secret, public: 'text', [lastApplied]: applied },
  },
  type: 'Opaque',
  data: { password: hidden },
}

const paths = ['data', 'type', 'metadata.labels[rank]', 'metadata.annotations.note']

describe('hidden fields of a View', () => {
  let scene: Scene
  const base = '/services/views/one/masked/clusters/one'
  const secrets = `${base}/api/v1/namespaces/default/secrets`
  const plain = '/clusters/one/api/v1/namespaces/default/secrets'
  const ask = (path: string, method = 'GET', body?: object, headers: Record<string, string> = {}) =>
    scene.admin.request(path, { method, headers, ...(body && { body }) })
  const original = async (): Promise<KubeObject> => (await ask(`${plain}/a`)).object as KubeObject
  const isSilent = (text: string): void => {
    for (const trace of [secret, hidden, 'password', 'rank', 'f:data', 'note'])
      assert.ok(!text.includes(trace), `${trace} is in ${text}`)
  }

  before(async () => {
    scene = await Scene.start()
    const { status, text } = await ask(plain, 'POST', stored)
    assert.equal(status, 201, text)
    await scene.view(ownView('masked', { resource: 'secrets', verbs: everything, hide: paths }))
  })
  after(() => scene.oriel.close())

  for (const accept of [
    'application/json',
    'application/yaml',
    'application/vnd.kubernetes.protobuf',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  ])
    it(`are not in lists as ${accept}`, async () => {
      const query = accept.includes('Table') ? '?includeObject=Object' : ''
      const { status, text } = await ask(`${secrets}${query}`, 'GET', undefined, { accept })
      assert.equal(status, 200, text)
      isSilent(text)
    })

  it('are not in objects, watches, and documents', async () => {
    const { text, object } = await ask(`${secrets}/a`)
    isSilent(text)
    assert.deepEqual(object?.metadata.labels, { shown: 'yes' })
    assert.deepEqual(JSON.parse(object?.metadata.annotations?.[lastApplied] ?? ''), {
      apiVersion: 'v1',
      kind: 'Secret',
    })
    const watch = await scene.admin.watch(secrets)
    isSilent(JSON.stringify(await watch.until(events => events.length > 0)))
    watch.close()
    const document = await ask(`${base}/openapi/v3/api/v1`)
    const schemas = JSON.parse(document.text).components.schemas
    assert.deepEqual(Object.keys(schemas['io.k8s.api.core.v1.Secret'].properties).sort(), [
      'apiVersion',
      'immutable',
      'kind',
      'metadata',
    ])
  })

  for (const [selector, found] of [
    [`labelSelector=rank%3D${secret}`, 0],
    ['labelSelector=rank', 0],
    ['labelSelector=!rank', 1],
    [`labelSelector=rank!%3D${secret}`, 1],
    ['labelSelector=shown%3Dyes', 1],
    ['fieldSelector=metadata.name%3Da', 1],
    ['fieldSelector=metadata.name%3Db', 0],
  ] as const)
    it(`are not found by ${selector}`, async () => {
      assert.equal((await scene.admin.list(`${secrets}?${selector}`)).length, found)
    })

  it('have no field selectors', async () => {
    assert.equal((await ask(`${secrets}?fieldSelector=type%3DOpaque`)).status, 400)
  })

  it('survive writes of what is shown', async () => {
    const before = await original()
    const { object } = await ask(`${secrets}/a`)
    const { resourceVersion: _, ...metadata } = object?.metadata ?? {}
    const put = await ask(`${secrets}/a`, 'PUT', {
      ...object,
      metadata: { ...metadata, labels: { shown: 'again' } },
    })
    assert.equal(put.status, 200, put.text)
    isSilent(put.text)
    const after = await original()
    assert.deepEqual(after.data, before.data)
    assert.equal(after.type, 'Opaque')
    assert.deepEqual(after.metadata.labels, { shown: 'again', rank: secret })
    assert.deepEqual(after.metadata.annotations, before.metadata.annotations)
    const owners = JSON.stringify(after.metadata.managedFields)
    for (const field of ['f:password', 'f:rank', 'f:note']) assert.ok(owners.includes(field), owners)
  })

  it('survive patches that remove what is around them', async () => {
    const gone = { metadata: { labels: null, annotations: null } }
    const { status, text } = await ask(`${secrets}/a`, 'PATCH', gone)
    assert.equal(status, 200, text)
    isSilent(text)
    const { metadata, data } = await original()
    assert.deepEqual(metadata.labels, { rank: secret })
    assert.equal(metadata.annotations?.note, secret)
    assert.equal(metadata.annotations?.public, undefined)
    assert.deepEqual(data, { password: hidden })
  })

  const json = { 'content-type': 'application/json-patch+json' }
  for (const operation of [
    { op: 'test', path: '/data/password', value: hidden },
    { op: 'test', path: '/metadata/labels/rank', value: secret },
    { op: 'remove', path: '/data/password' },
    { op: 'copy', from: '/data', path: '/metadata/annotations/stolen' },
    { op: 'move', from: '/metadata/labels/rank', path: '/metadata/labels/stolen' },
  ])
    it(`cannot be reached by the patch ${operation.op} ${operation.path}`, async () => {
      const patch = (text: string) => ask(`${secrets}/a`, 'PATCH', JSON.parse(text) as object, json)
      const at = operation.from ?? operation.path
      const missing = JSON.stringify([operation]).replaceAll(
        at,
        at.replace(/(data|rank|password)$/, 'missing'),
      )
      const [found, none] = [await patch(JSON.stringify([operation])), await patch(missing)]
      assert.ok(found.status >= 400, found.text)
      assert.equal(found.status, none.status)
      assert.ok(!found.text.includes(secret))
    })

  for (const [what, body] of [
    ['data', { data: { password: 'eA==' } }],
    ['stringData', { stringData: { password: 'mine' } }],
    ['metadata.labels[rank]', { metadata: { labels: { rank: 'mine' } } }],
    ['metadata.annotations.note', { metadata: { annotations: { note: 'mine' } } }],
  ] as const)
    it(`cannot be written: ${what}`, async () => {
      for (const query of ['', '?dryRun=All', '?fieldValidation=Strict']) {
        const { status, text } = await ask(`${secrets}/a${query}`, 'PATCH', body)
        if (status === 422) assert.ok(text.includes(what) || text.includes('unknown field'), text)
      }
      const created = await ask(secrets, 'POST', {
        apiVersion: 'v1',
        kind: 'Secret',
        ...body,
        metadata: { name: 'b', ...('metadata' in body ? body.metadata : {}) },
      })
      if (created.status === 201)
        assert.ok(!JSON.stringify((await ask(`${plain}/b`)).object).includes('mine'))
      await ask(`${plain}/b`, 'DELETE')
      const { data, metadata, type } = await original()
      assert.deepEqual([data, type], [{ password: hidden }, 'Opaque'])
      assert.equal(metadata.labels?.rank, secret)
      assert.equal(metadata.annotations?.note, secret)
    })

  it('survive server-side apply, which does not own them', async () => {
    const apply = (body: object, query: string) =>
      ask(`${secrets}/a?fieldManager=ssa&${query}`, 'PATCH', body, {
        'content-type': 'application/apply-patch+yaml',
      })
    const config = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', labels: { applied: 'yes' } } }
    for (const query of ['dryRun=All', 'force=true']) {
      const { status, text } = await apply(config, query)
      assert.equal(status, 200, text)
      isSilent(text)
    }
    await apply({ ...config, data: { password: 'eA==' } }, 'force=true')
    await apply({ ...config, metadata: { name: 'a' } }, 'force=true')
    const { data, metadata } = await original()
    assert.deepEqual(data, { password: hidden })
    assert.deepEqual(metadata.labels, { rank: secret })
  })
})
