import assert from 'node:assert/strict'
import { filled, fresh, refusal, refuses, table } from '../../test/support/asked.ts'
import { type Asked, ask, bodyOf, jsonOf, widget } from '../../test/support/widgets.ts'
import type { ApiResource } from '../contract/apis.ts'
import { forbidden } from '../meta/errors.ts'
import type { KubeObject } from '../meta/object.ts'

describe('delete', () => {
  it('answers with a Status and the uid', async () => {
    const resource = await filled('a')
    const { uid } = (await jsonOf(ask(resource, { verb: 'get', name: 'a' }))).metadata as { uid: string }
    const answer = await ask(resource, { verb: 'delete', name: 'a', headers: { accept: table } })
    assert.equal(answer.status, 200)
    assert.deepEqual(await jsonOf(answer), {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', group: 'example.com', kind: 'widgets', uid },
    })
    await refuses(resource, { verb: 'delete', name: 'a' }, 404, 'widgets.example.com "a" not found')
  })

  it('returns the object for some kinds, or while it has finalizers', async () => {
    const resource = fresh({ deleteReturnsObject: true })
    await ask(resource, { verb: 'create', body: widget('a') })
    assert.equal((await jsonOf(ask(resource, { verb: 'delete', name: 'a' }))).kind, 'Widget')
    const held = fresh()
    await ask(held, { verb: 'create', body: widget('a', {}, { finalizers: ['example.com/f'] }) })
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', orphanDependents: false }
    const answer = await ask(held, { verb: 'delete', name: 'a', body })
    assert.equal(answer.status, 202)
    assert.ok(((await jsonOf(answer)).metadata as KubeObject['metadata']).deletionTimestamp)
    assert.equal((await ask(held, { verb: 'delete', name: 'a' })).status, 200)
  })

  it('takes preconditions from the body', async () => {
    const body = { preconditions: { uid: 'x' } }
    const status = await refusal(await filled('a'), { verb: 'delete', name: 'a', body })
    assert.equal(status.code, 409)
    assert.equal(status.details?.kind, 'Widget')
  })

  it('shows admission the object', async () => {
    const admission = [
      {
        validate: async (_: unknown, { operation, old }: { operation: string; old?: KubeObject }) => {
          throw forbidden(undefined, `${operation} ${old?.metadata.name}`)
        },
      },
    ]
    await refuses(await filled('a'), { verb: 'delete', name: 'a', admission }, 403, 'forbidden: DELETE a')
    await refuses(await filled('a'), { verb: 'deletecollection', admission }, 403, 'forbidden: DELETE a')
  })

  const invalid = (text: string): string => `DeleteOptions.meta.k8s.io "" is invalid: ${text}`
  const bad: readonly [asked: Partial<Asked>, code: number, message: string | RegExp][] = [
    [{ body: '{' }, 400, /json parse error/],
    [{ body: { kind: 'Pod' } }, 400, 'no kind "Pod" is registered for version "v1" in scheme "oriel"'],
    [{ body: { preconditions: 1 } }, 400, /DeleteOptions.preconditions of type v1.Preconditions$/],
    [{ body: { dryRun: 'All' } }, 400, /^json: .* struct field DeleteOptions.dryRun of type \[\]string$/],
    [{ body: { gracePeriodSeconds: 'x' } }, 400, /DeleteOptions.gracePeriodSeconds of type int64$/],
    [{ body: '[]' }, 400, /^couldn't get version\/kind; .* array into Go value of type struct { APIVersion /],
    [{ body: '{' }, 400, /^couldn't get version\/kind; json parse error: /],
    [{ body: {}, headers: { 'content-type': 'text/plain' } }, 415, /unknown format/],
    [
      { body: { propagationPolicy: 'x' } },
      422,
      invalid(
        'propagationPolicy: Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil"',
      ),
    ],
    [
      { query: 'propagationPolicy=Orphan&orphanDependents=true' },
      422,
      invalid(
        'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
      ),
    ],
    [{ query: 'dryRun=x' }, 422, invalid('dryRun: Unsupported value: ["x"]: supported values: "All"')],
    [{ query: 'gracePeriodSeconds=x' }, 400, /^strconv.ParseInt/],
  ]
  for (const [asked, code, message] of bad) {
    it(`refuses ${JSON.stringify(asked)}`, async () =>
      refuses(await filled('a'), { verb: 'delete', name: 'a', ...asked }, code, message))
  }
})

describe('the status of a deletion', () => {
  it('is written in the format that was asked for, whatever the form', async () => {
    const accept = 'application/yaml;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
    const answer = await ask(await filled('a'), { verb: 'delete', name: 'a', headers: { accept } })
    assert.equal(answer.contentType, 'application/yaml')
    assert.match(await bodyOf(answer), /^apiVersion: v1\n[\s\S]*kind: Status\n/)
  })
})

describe('deletecollection', () => {
  it('deletes the listed objects, and returns them', async () => {
    const resource = await filled('a', 'b')
    await ask(resource, { verb: 'create', body: widget('c', {}, { labels: { x: 'y' } }) })
    const names = async (asked: Asked): Promise<unknown> =>
      ((await jsonOf(ask(resource, asked))).items as KubeObject[]).map(item => item.metadata.name)
    assert.deepEqual(await names({ verb: 'deletecollection', query: 'labelSelector=x%3Dy&dryRun=All' }), [
      'c',
    ])
    assert.deepEqual(await names({ verb: 'deletecollection', query: 'labelSelector=x%3Dy' }), ['c'])
    assert.deepEqual(await names({ verb: 'list' }), ['a', 'b'])
    assert.deepEqual(await names({ verb: 'deletecollection' }), ['a', 'b'])
    assert.deepEqual(await names({ verb: 'list' }), [])
  })

  it('honors preconditions', async () => {
    const resource = await filled('a')
    const all = (preconditions: object): Asked => ({ verb: 'deletecollection', body: { preconditions } })
    await refuses(resource, all({ uid: 'x' }), 409, /the UID in the precondition \(x\) does not match/)
    await refuses(
      resource,
      all({ resourceVersion: 'x' }),
      409,
      /the ResourceVersion in the precondition \(x\)/,
    )
    assert.equal((await ask(resource, { verb: 'get', name: 'a' })).status, 200)
    const { metadata } = await jsonOf(ask(resource, { verb: 'get', name: 'a' }))
    await ask(resource, all({ uid: (metadata as KubeObject['metadata']).uid }))
    await refuses(resource, { verb: 'get', name: 'a' }, 404, /not found/)
  })

  it('does not delete a new object of the same name', async () => {
    const resource = await filled('a')
    const { storage } = resource
    const recreating: ApiResource['storage'] = {
      ...storage,
      async delete(ctx, key, check, options) {
        await storage.delete(ctx, key, () => undefined, { dryRun: false })
        await storage.create(ctx, key, widget('a', {}, { namespace: 'ns1' }), {
          dryRun: false,
          fieldManager: '',
        })
        return storage.delete(ctx, key, check, options)
      },
    }
    await ask({ ...resource, storage: recreating }, { verb: 'deletecollection' })
    assert.equal((await ask(resource, { verb: 'get', name: 'a' })).status, 200)
  })
})
