import assert from 'node:assert/strict'
import { filled, fresh, refuses, specOf } from '../../test/support/asked.ts'
import { ask, jsonOf, type Told, widget } from '../../test/support/widgets.ts'
import { forbidden, StatusError } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'

const type = { apiVersion: 'example.com/v1', kind: 'Widget' }

describe('update', () => {
  it('replaces, and needs the version', async () => {
    const resource = await filled('a')
    const put = { verb: 'update', name: 'a' } as const
    await refuses(
      resource,
      { ...put, body: widget('a') },
      422,
      'widgets.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    )
    const current = (await jsonOf(ask(resource, { verb: 'get', name: 'a' }))) as unknown as KubeObject
    const changed = { ...current, spec: { color: 'blue' } }
    assert.deepEqual(await specOf(ask(resource, { ...put, body: changed })), { color: 'blue' })
    await refuses(resource, { ...put, body: changed }, 409, /the object has been modified; please apply/)
  })

  it('lets the last write win where the kind allows it, and creates where it may', async () => {
    const resource = fresh({ unconditionalUpdate: true, createOnUpdate: true })
    const put = (body: KubeObject): Promise<Told> => ask(resource, { verb: 'update', name: 'a', body })
    assert.equal((await put(widget('a'))).status, 201)
    assert.equal((await put(widget('a', { color: 'blue' }))).status, 200)
    assert.equal((await put(widget('a', { color: 'red' }, { resourceVersion: '0' }))).status, 200)
    const other = { verb: 'update', name: 'b', body: widget('b', {}, { uid: 'x' }) } as const
    await refuses(resource, other, 409, /Precondition failed: UID in precondition: x, UID in object meta: $/)
  })

  it('stores nothing when it ends while its object is converted for the owners of its fields', async () => {
    const ending = new AbortController()
    let asked = 0
    const convert = async (): Promise<KubeObject> => {
      asked++
      ending.abort(new StatusError(504, 'Timeout', 'the request ends'))
      throw new StatusError(500, '', 'the webhook fails')
    }
    const spec = { type: 'object', properties: { color: { type: 'string' } } }
    const openapi = { type: 'object', properties: { spec } }
    const v1 = fresh({ unconditionalUpdate: true, convert, openapi })
    const v2 = { ...v1, version: 'v2' }
    const versions = { v1, v2 }
    const inV2 = { ...widget('a', { color: 'red' }), apiVersion: 'example.com/v2' }
    await ask(v2, { verb: 'create', body: inV2 })
    const body = widget('a', { color: 'blue' })
    const put = { verb: 'update', name: 'a', body, versions, signal: ending.signal } as const
    await refuses(v1, put, 504, 'the request ends')
    await refuses(v1, put, 504, 'the request ends')
    assert.equal(asked, 1)
    assert.deepEqual(await specOf(ask(v2, { verb: 'get', name: 'a' })), { color: 'red' })
  })

  it('refuses other names and missing objects', async () => {
    const resource = await filled('a')
    const put = { verb: 'update', name: 'a' } as const
    await refuses(
      resource,
      { ...put, body: widget('b') },
      400,
      'the name of the object (b) does not match the name on the URL (a)',
    )
    await refuses(
      resource,
      { ...put, body: { ...type, spec: {} } },
      400,
      'the name of the object (a based on URL) was undeterminable: name must be provided',
    )
    await refuses(
      resource,
      { ...put, name: 'x', body: widget('x') },
      404,
      'widgets.example.com "x" not found',
    )
    await refuses(
      resource,
      { ...put, body: widget('a', {}, { resourceVersion: 'x' }) },
      400,
      /invalid resource version/,
    )
  })

  it('shows admission the stored object', async () => {
    const resource = fresh({ unconditionalUpdate: true })
    await ask(resource, { verb: 'create', body: widget('a', { color: 'red' }) })
    const admission = [
      {
        validate: async (_: unknown, { old }: { old?: KubeObject }) => {
          throw forbidden(undefined, JSON.stringify(old?.spec))
        },
      },
    ]
    const put = { verb: 'update', name: 'a', body: widget('a'), admission } as const
    await refuses(resource, put, 403, 'forbidden: {"color":"red"}')
  })
})
