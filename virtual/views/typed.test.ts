import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { everything, ownView, Scene } from './testing/scene.ts'

const text = { type: 'string' }
const rule = {
  rule: 'self.size <= self.limit',
  messageExpression: "'it is about ' + self.token",
}

const definition: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'vaults.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'vaults', singular: 'vault', kind: 'Vault', listKind: 'VaultList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [
          { name: 'Token', type: 'string', jsonPath: '.spec.token' },
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
        ],
        selectableFields: [{ jsonPath: '.spec.token' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['token', 'size'],
                'x-kubernetes-validations': [rule],
                properties: {
                  token: { ...text, default: 'none', minLength: 1, maxLength: 20 },
                  limit: { type: 'integer', default: 10 },
                  size: { type: 'integer' },
                  drawers: {
                    type: 'array',
                    maxItems: 10,
                    items: { type: 'object', properties: { name: text, content: text } },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
}

const vault = (spec: object): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Vault',
  metadata: { name: 'a' },
  spec: spec as KubeObject['spec'],
})

const stored = {
  token: 'sesame',
  size: 1,
  limit: 77,
  drawers: [
    { name: 'one', content: 'gold' },
    { name: 'two', content: 'silver' },
  ],
}

describe('hidden fields with a schema', () => {
  let scene: Scene
  const base = '/services/views/one/masked/clusters/one'
  const vaults = '/apis/example.com/v1/namespaces/default/vaults'
  const plain = `/clusters/one${vaults}`
  const path = `${base}${vaults}`
  const patch = (spec: object) => scene.admin.request(`${path}/a`, { method: 'PATCH', body: { spec } })
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const configure = async (plural: string, kind: string, name: string, spec: object) => {
    const body: KubeObject = { apiVersion, kind, metadata: { name }, spec: spec as KubeObject['spec'] }
    const made = await scene.admin.request(`/clusters/one/apis/${apiVersion}/${plural}`, {
      method: 'POST',
      body,
    })
    assert.equal(made.status, 201, made.text)
  }
  const original = async () => (await scene.admin.request(`${plain}/a`)).object?.spec as typeof stored

  before(async () => {
    scene = await Scene.start()
    const definitions = '/clusters/one/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const made = await scene.admin.request(definitions, { method: 'POST', body: definition })
    assert.equal(made.status, 201, made.text)
    const conditions = [{ type: 'Established', status: 'True', reason: 'Test', message: '' }]
    const { names } = definition.spec as { names: object }
    const status = { conditions, acceptedNames: names, storedVersions: ['v1'] }
    const body = { ...made.object, status }
    const established = await scene.admin.request(`${definitions}/vaults.example.com/status`, {
      method: 'PUT',
      body,
    })
    assert.equal(established.status, 200, established.text)
    const created = await scene.admin.request(plain, { method: 'POST', body: vault(stored) })
    assert.equal(created.status, 201, created.text)
    const hide = ['spec.token', 'spec.limit', 'spec.drawers[*].content']
    const resource = { group: 'example.com', resource: 'vaults', verbs: everything, hide }
    const view = await scene.view(ownView('masked', resource))
    assert.equal(view.status?.conditions?.[0]?.status, 'True', JSON.stringify(view.status))
  })
  after(() => scene.oriel.close())

  it('are not set to their defaults by writes', async () => {
    const { object } = await scene.admin.request(`${path}/a`)
    assert.deepEqual(object?.spec, { size: 1, drawers: [{ name: 'one' }, { name: 'two' }] })
    const body = { ...object, spec: { ...(object?.spec as object), size: 2 } }
    const { status, text } = await scene.admin.request(`${path}/a`, { method: 'PUT', body })
    assert.equal(status, 200, text)
    assert.deepEqual(await original(), { ...stored, size: 2 })
  })

  it('survive a patch that replaces what is around them, but not one that moves items', async () => {
    const json = { 'content-type': 'application/json-patch+json' }
    const replace = (at: string, value: unknown) => {
      const operations = [{ op: 'replace', path: at, value }]
      return scene.admin.request(`${path}/a`, { method: 'PATCH', headers: json, body: operations })
    }
    const whole = await replace('/spec', { size: 3, drawers: [{ name: 'one' }, { name: 'two' }] })
    assert.equal(whole.status, 200, whole.text)
    assert.deepEqual(await original(), { ...stored, size: 3 })
    const moved = await replace('/spec/drawers', [{ name: 'two' }, { name: 'one' }])
    assert.equal(moved.status, 422, moved.text)
    assert.match(moved.text, /spec\.drawers: Forbidden: cannot be changed/)
    assert.deepEqual(await original(), { ...stored, size: 3 })
  })

  it('are not told by rules of the schema', async () => {
    const { status, text } = await patch({ size: 100 })
    assert.equal(status, 422, text)
    assert.ok(!/sesame|77|limit|token/.test(text), text)
    assert.match(text, /the reason is not shown, because the View \\"masked\\" hides fields/)
  })

  for (const [reason, code] of [
    ['Forbidden', 403],
    ['RequestEntityTooLarge', 413],
    ['Invalid', 422],
  ] as const)
    it(`are not told by policies that refuse with ${code}`, async () => {
      const size = code - 380
      const name = reason.toLowerCase()
      const rule = {
        apiGroups: ['example.com'],
        apiVersions: ['v1'],
        operations: ['*'],
        resources: ['vaults'],
      }
      const messageExpression = "'it is about ' + object.spec.token"
      const validations = [{ expression: `object.spec.size != ${size}`, messageExpression, reason }]
      await configure('validatingadmissionpolicies', 'ValidatingAdmissionPolicy', name, {
        matchConstraints: { resourceRules: [rule] },
        validations,
      })
      await configure('validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding', name, {
        policyName: name,
        validationActions: ['Deny'],
      })
      const body = { spec: { size } }
      const plainly = await scene.admin.request(`${plain}/a`, { method: 'PATCH', body })
      assert.match(plainly.text, /it is about sesame/)
      const { status, text } = await patch({ size })
      assert.equal(status, code, text)
      assert.ok(!text.includes('sesame'), text)
    })

  it('are unknown fields in writes', async () => {
    const strict = await scene.admin.request(`${path}/a?fieldValidation=Strict`, {
      method: 'PATCH',
      body: { spec: { token: 'mine' } },
    })
    assert.match(strict.text, /unknown field \\"spec\.token\\"/)
    await patch({ token: 'mine', limit: 1000 })
    assert.deepEqual([(await original()).token, (await original()).limit], ['sesame', 77])
  })

  it('are in no selector, column and document', async () => {
    const select = (field: string) => scene.admin.request(`${path}?fieldSelector=spec.${field}%3Dsesame`)
    const [token, none] = [await select('token'), await select('none')]
    assert.equal(token.status, 400)
    assert.equal(token.text.replaceAll('token', 'none'), none.text)
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
    const { text: rows } = await scene.admin.request(path, { headers })
    assert.ok(rows.includes('"Size"') && !/Token|token|sesame/.test(rows), rows)
    const { text: document } = await scene.admin.request(`${base}/openapi/v3/apis/example.com/v1`)
    const { schemas } = JSON.parse(document).components
    assert.deepEqual(schemas['com.example.v1.Vault'].properties.spec, {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer' },
        drawers: { type: 'array', maxItems: 10, items: { type: 'object', properties: { name: text } } },
      },
    })
  })

  it('cannot be read by annotations and columns, but by the filter', async () => {
    const resource = { group: 'example.com', resource: 'vaults', verbs: everything, hide: ['spec.token'] }
    const where = "object.spec.token == 'sesame'"
    const view = await scene.view(ownView('filtered', { ...resource, where }))
    assert.equal(view.status?.conditions?.[0]?.status, 'True', JSON.stringify(view.status))
    assert.equal(
      (
        await scene.admin.list(
          `/services/views/one/filtered/clusters/*${vaults.replace(/namespaces.default./, '')}`,
        )
      ).length,
      1,
    )
    const annotate = { 'example.com/token': 'object.spec.token' }
    const { status } = await scene.view(ownView('wrong', { ...resource, annotate }))
    assert.match(JSON.stringify(status?.conditions), /undefined field 'token'/)
  })
})
