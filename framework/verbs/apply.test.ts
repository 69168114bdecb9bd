import assert from 'node:assert/strict'
import { memoryStorage } from '../../test/support/storage/memorystorage.ts'
import { type Asked, ask, jsonOf, type Told, widget, widgets } from '../../test/support/widgets.ts'
import type { ApiResource } from '../contract/apis.ts'
import type { ResourceStorage } from '../contract/storage.ts'
import { alreadyExists, forbidden, StatusError } from '../meta/errors.ts'

const kind = { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget' }
const openapi = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { color: { type: 'string' }, size: { type: 'integer' } } },
    status: { type: 'object', properties: { phase: { type: 'string' } } },
  },
}
const over = (storage: ResourceStorage, more: Partial<ApiResource> = {}): ApiResource =>
  widgets(storage, { openapi, ...more })
const fresh = (): ApiResource => over(memoryStorage(kind))

const applyAs = (manager: string, body: string | object, more: Partial<Asked> = {}): Asked => ({
  verb: 'patch',
  name: 'a',
  query: `fieldManager=${manager}`,
  headers: { 'content-type': 'application/apply-patch+yaml' },
  body,
  ...more,
})
const refused = (answer: Promise<Told>, code: number): Promise<void> =>
  assert.rejects(answer, (error: unknown) => error instanceof StatusError && error.code === code)
const managersOf = async (answer: Told | Promise<Told>): Promise<unknown> =>
  (
    (await jsonOf(answer)) as { metadata: { managedFields?: { manager: string }[] } }
  ).metadata.managedFields?.map(({ manager }) => manager)

describe('server-side apply', () => {
  it('creates, then changes', async () => {
    const resource = fresh()
    const created = await ask(resource, applyAs('m1', widget('a', { color: 'red' })))
    assert.deepEqual([created.status, await managersOf(created)], [201, ['m1']])
    const changed = await ask(resource, applyAs('m1', widget('a', { color: 'blue' })))
    assert.deepEqual([changed.status, (await jsonOf(changed)).spec], [200, { color: 'blue' }])
  })

  it('reads YAML', async () => {
    const yaml = 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {color: red}\n'
    assert.deepEqual((await jsonOf(ask(fresh(), applyAs('m1', yaml)))).spec, { color: 'red' })
  })

  it('creates nothing without permission, and nothing in a dry run (5.52)', async () => {
    const resource = fresh()
    const mayCreate = async (): Promise<void> => {
      throw forbidden(undefined, 'no')
    }
    await refused(ask(resource, applyAs('m1', widget('a'), { mayCreate })), 403)
    const dry = await ask(resource, applyAs('m1', widget('a'), { query: 'fieldManager=m1&dryRun=All' }))
    assert.equal(dry.status, 201)
    await refused(ask(resource, { verb: 'get', name: 'a' }), 404)
    await ask(resource, applyAs('m1', widget('a')))
    assert.equal((await ask(resource, applyAs('m1', widget('a'), { mayCreate }))).status, 200)
  })

  it('changes an object that was created meanwhile', async () => {
    const storage = memoryStorage(kind)
    const resource = over({
      ...storage,
      create: async (ctx, key, object, options) => {
        await storage.create(ctx, key, { ...object, spec: { size: 1 } }, options)
        throw alreadyExists({ ...kind, name: key.name })
      },
    })
    const answer = await ask(resource, applyAs('m1', widget('a', { color: 'red' })))
    assert.deepEqual([answer.status, (await jsonOf(answer)).spec], [200, { color: 'red', size: 1 }])
  })

  it('refuses a uid of a missing object, and ignores its resourceVersion', async () => {
    const resource = fresh()
    await refused(ask(resource, applyAs('m1', widget('a', {}, { uid: 'x' }))), 409)
    assert.equal((await ask(resource, applyAs('m1', widget('a', {}, { resourceVersion: '5' })))).status, 201)
    await refused(ask(resource, applyAs('m1', widget('a', { size: 1 }, { resourceVersion: '999' }))), 409)
  })

  it('names fields in the version that they were applied in (5.18)', async () => {
    const storage = memoryStorage(kind)
    const v1 = over(storage)
    const versions = { v1beta1: over(storage, { version: 'v1beta1' }) }
    await ask(v1, applyAs('m1', widget('a', { color: 'red' })))
    const body = { ...widget('a', { size: 1 }), metadata: { name: 'a', managedFields: entries('v1beta1') } }
    const known = await ask(v1, { verb: 'patch', name: 'a', body, versions, headers: mergeHeaders })
    assert.deepEqual(await managersOf(known), ['old', 'curl'])
    const gone = await ask(v1, {
      verb: 'patch',
      name: 'a',
      body: { spec: { size: 2 } },
      headers: mergeHeaders,
    })
    assert.deepEqual(await managersOf(gone), ['curl'])
  })

  it('is not for subresources with objects of another kind', async () => {
    const storage = memoryStorage(kind)
    const token = { name: 'token', group: 'x', version: 'v1', kind: 'T', verbs: ['patch' as const], storage }
    const resource = over(storage, { subresources: [{ ...token, schema: fresh().schema }] })
    await refused(ask(resource, applyAs('m1', widget('a'), { subresource: 'token' })), 415)
  })
})

const mergeHeaders = { 'content-type': 'application/merge-patch+json', 'user-agent': 'curl/8' }
const entries = (version: string): readonly object[] => [
  {
    manager: 'old',
    operation: 'Apply',
    apiVersion: `example.com/${version}`,
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:color': {} } },
  },
]
