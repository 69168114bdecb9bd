import assert from 'node:assert/strict'
import type { KubeObject } from '../../../framework/index.ts'
import type { Answered, Reply, Sent } from '../../support/client.ts'
import {
  better,
  expect,
  jsonPatch,
  merge,
  post,
  put,
  remove,
  type Target,
  widget,
  widgetsIn,
} from '../fixture.ts'

/** Cases 23 to 27 and 31 to 33 of rules.md: PUT and PATCH. */
export function updateCases(target: () => Target): void {
  let path = ''
  before(async () => {
    path = widgetsIn(await target().namespace())
  })
  const at = (name: string, sent?: Sent, query = ''): Promise<Reply> =>
    target().client(`${path}/${name}${query}`, sent)
  const created = async (spec: object = {}): Promise<Answered & KubeObject> =>
    (await expect(201, target().client(path, post(widget(target().fresh(), spec))))) as Answered & KubeObject
  const nameOf = (object: Answered): string => object.metadata.name ?? ''
  const rvOf = (object: Answered): number => Number(object.metadata.resourceVersion)

  describe('PUT', () => {
    it('23: needs the current version (2.14, 3.22)', async () => {
      const object = await created()
      const name = nameOf(object)
      const blind = await expect(422, at(name, put(widget(name))))
      assert.match(
        blind.message ?? '',
        /metadata\.resourceVersion: Invalid value: .*must be specified for an update/,
      )
      await expect(200, at(name, put({ ...object, spec: { size: 2 } })))
      const { reason, message } = await expect(409, at(name, put({ ...object, spec: { size: 3 } })))
      assert.equal(reason, 'Conflict')
      assert.equal(
        message,
        `Operation cannot be fulfilled on widgets.example.com "${name}": the object has been modified; please apply your changes to the latest version and try again`,
      )
    })

    it('24: is about the object in the path (2.43, 3.23)', async () => {
      const name = nameOf(await created())
      const { message } = await expect(400, at(name, put(widget('b'))))
      assert.equal(message, `the name of the object (b) does not match the name on the URL (${name})`)
      await expect(404, at('missing', put(widget('missing', {}, { resourceVersion: '1' }))))
    })

    it('25: counts generations of the spec only, and leaves the status alone (3.29, 3.31)', async () => {
      const object = await created({ color: 'red' })
      const name = nameOf(object)
      const labelled = await expect(
        200,
        at(name, put({ ...object, metadata: { ...object.metadata, labels: { a: 'b' } } })),
      )
      assert.equal(labelled.metadata.generation, 1)
      assert.ok(rvOf(labelled) > rvOf(object))
      const blue = await expect(200, at(name, put({ ...labelled, spec: { color: 'blue', size: 1 } })))
      assert.equal(blue.metadata.generation, 2)
      const same = await expect(200, at(name, put({ ...blue, status: { phase: 'X' } })))
      assert.deepEqual([same.status, rvOf(same)], [undefined, rvOf(blue)])
    })

    it('26: of the status changes the status only (3.32)', async () => {
      const object = await created({ color: 'red' })
      const body = {
        ...object,
        metadata: { ...object.metadata, labels: { a: 'b' } },
        spec: { color: 'blue' },
        status: { phase: 'X' },
      }
      const changed = await expect(200, at(`${nameOf(object)}/status`, put(body)))
      assert.deepEqual(changed.status, { phase: 'X' })
      assert.deepEqual(changed.spec, { color: 'red', size: 1 })
      assert.deepEqual([changed.metadata.labels, changed.metadata.generation], [undefined, 1])
    })

    better(target, '27: of the same object is nothing that a watch would see (3.27)', async () => {
      const { client } = target()
      const object = await created({ color: 'red' })
      const name = nameOf(object)
      const selector = `fieldSelector=metadata.name%3D${name}`
      const events = await client.watch(`${path}?watch=1&${selector}&resourceVersion=${rvOf(object)}`)
      const again = await expect(200, at(name, put(object)))
      assert.equal(rvOf(again), rvOf(object))
      const blue = await expect(200, at(name, merge({ spec: { color: 'blue' } })))
      const event = await events.next()
      assert.deepEqual(
        [event?.type, event?.object.metadata.resourceVersion],
        ['MODIFIED', blue.metadata.resourceVersion],
      )
      events.leave()
    })
  })

  describe('PATCH', () => {
    it('31: with operations applies all or nothing (5.6)', async () => {
      const name = nameOf(await created({ size: 1 }))
      const operations = [
        { op: 'replace', path: '/spec/color', value: 'red' },
        { op: 'test', path: '/spec/size', value: 9 },
      ]
      const { reason } = await expect(422, at(name, jsonPatch(operations)))
      assert.equal(reason, 'Invalid')
      assert.deepEqual((await expect(200, at(name))).spec, { size: 1 })
      await expect(404, at('missing', jsonPatch(operations)))
      const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/spec/size', value: 1 }))
      const tooMany = await expect(413, at(name, jsonPatch(many)))
      assert.match(
        tooMany.message ?? '',
        /The allowed maximum operations in a JSON patch is 10000, got 10001/,
      )
    })

    it('32: conflicts only when it carries a version (5.5)', async () => {
      const name = nameOf(await created())
      const stale = merge({ spec: { note: 'n' }, metadata: { resourceVersion: '1' } })
      assert.equal((await expect(409, at(name, stale))).reason, 'Conflict')
      const writers = Array.from({ length: target().isKcp ? 4 : 20 }, (_, i) => `k${i}`)
      await Promise.all(writers.map(key => expect(200, at(name, merge({ spec: { free: { [key]: true } } })))))
      const { free } = (await expect(200, at(name))).spec as { free: object }
      assert.deepEqual(Object.keys(free).sort(), [...writers].sort())
    })

    it('drops duplicate owner references, with a warning (3.15)', async () => {
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u1' }
      const metadata = { ownerReferences: [owner, owner] }
      const text = '.metadata.ownerReferences contains duplicate entries'
      const sent = await target().client(path, post(widget(target().fresh(), {}, metadata)))
      assert.ok(sent.headers.warning?.startsWith(`299 - "${text}; `), sent.headers.warning)
      const patched = await at(nameOf(await created()), merge({ metadata }))
      assert.equal(patched.json().metadata.ownerReferences?.length, 1)
      const told = patched.headers.warning
      assert.ok(told?.startsWith(`299 - "${text} after mutating admission happens; `), told)
    })

    better(
      target,
      '33: with unknown fields changes nothing, and is refused in strict mode (2.49, 3.27)',
      async () => {
        const object = await created()
        const bogus = merge({ spec: { bogus: 1 } })
        const { reason, message, details } = await expect(
          422,
          at(nameOf(object), bogus, '?fieldValidation=Strict'),
        )
        assert.deepEqual([reason, details?.causes?.[0]?.field], ['Invalid', 'patch'])
        assert.match(
          message ?? '',
          /^ "" is invalid: patch: Invalid value: ".*": strict decoding error: unknown field "spec\.bogus"$/,
        )
        const warned = await at(nameOf(object), bogus, '?fieldValidation=Warn')
        assert.equal(warned.headers.warning, '299 - "unknown field \\"spec.bogus\\""')
        assert.deepEqual([warned.status, rvOf(warned.json())], [200, rvOf(object)])
      },
    )
  })

  describe('DELETE', () => {
    it('56: answers with a Status that has the uid (6.5, 6.9)', async () => {
      const object = await created()
      const name = nameOf(object)
      const refused = await expect(409, at(name, remove({ preconditions: { uid: 'x' } })))
      assert.equal(refused.details?.kind, 'Widget')
      assert.match(
        refused.message ?? '',
        new RegExp(
          `the UID in the precondition \\(x\\) does not match the UID in record \\(${object.metadata.uid}\\)\\. The object might have been deleted and then recreated$`,
        ),
      )
      const done = await expect(200, at(name, remove()))
      assert.deepEqual(done as object, {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name, group: 'example.com', kind: 'widgets', uid: object.metadata.uid },
      })
      await expect(404, at(name, remove()))
    })

    it('57: waits for finalizers (6.7, 3.25, 3.26, 6.13)', async () => {
      const { client } = target()
      const name = target().fresh()
      const held = widget(name, {}, { finalizers: ['example.com/f'] })
      const object = await expect(201, client(path, post(held)))
      const going = await expect(200, at(name, remove()))
      assert.match(going.metadata.deletionTimestamp ?? '', /Z$/)
      assert.deepEqual([going.metadata.deletionGracePeriodSeconds, going.metadata.generation], [0, 2])
      const more = await expect(
        422,
        at(name, merge({ metadata: { finalizers: ['example.com/f', 'example.com/g'] } })),
      )
      assert.match(
        more.message ?? '',
        /metadata\.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"example\.com\/g"\}/,
      )
      const selector = `fieldSelector=metadata.name%3D${name}`
      const events = await client.watch(`${path}?watch=1&${selector}&resourceVersion=${rvOf(object)}`)
      assert.equal((await events.next())?.type, 'MODIFIED')
      await expect(200, at(name, merge({ metadata: { finalizers: [] } })))
      assert.equal((await events.next())?.type, 'DELETED')
      events.leave()
    })

    it('57: keeps what is deleted in the foreground until its dependents are gone (6.13)', async () => {
      const name = target().fresh()
      await expect(201, target().client(path, post(widget(name, {}, { finalizers: ['example.com/f'] }))))
      const going = await expect(200, at(name, remove({ propagationPolicy: 'Foreground' })))
      assert.deepEqual(going.metadata.finalizers, ['example.com/f', 'foregroundDeletion'])
      await expect(200, at(name, merge({ metadata: { finalizers: [] } })))
    })

    it('has its preconditions in the query where it has no body (6.1, 6.9)', async () => {
      const name = nameOf(await created())
      for (const query of ['?uid=x', '?resourceVersion=1'])
        assert.match((await expect(409, at(name, remove(), query))).message ?? '', /does not match the /)
      await expect(200, at(name, remove({}), '?uid=x'))
    })

    it('of a collection equals that of each object (6.9, 6.13, 6.17)', async () => {
      const { client } = target()
      const own = widgetsIn(await target().namespace())
      const held = widget('a', {}, { finalizers: ['example.com/f'] })
      const object = await expect(201, client(own, post(held)))
      const refused = await expect(409, client(own, remove({ preconditions: { uid: 'x' } })))
      assert.match(
        refused.message ?? '',
        /the UID in the precondition \(x\) does not match the UID in record/,
      )
      await expect(409, client(own, remove({ preconditions: { resourceVersion: '1' } })))
      const events = await client.watch(`${own}?watch=1&resourceVersion=${rvOf(object)}`)
      const listed = await expect(200, client(own, remove({ propagationPolicy: 'Foreground' })))
      // The response has the objects of the list.
      assert.equal(listed.items?.[0]?.metadata.deletionTimestamp, undefined)
      const going = (await events.next())?.object.metadata
      assert.deepEqual(going?.finalizers, ['example.com/f', 'foregroundDeletion'])
      assert.match(going?.deletionTimestamp ?? '', /Z$/)
      events.leave()
      await expect(200, client(`${own}/a`, merge({ metadata: { finalizers: [] } })))
    })

    it('58: of a collection deletes the selected objects, in one namespace (6.17, 6.18)', async () => {
      const { client } = target()
      const own = widgetsIn(await target().namespace())
      for (const [name, x] of [
        ['a', 'y'],
        ['b', 'y'],
        ['c', 'z'],
      ] as const)
        await expect(201, client(own, post(widget(name, {}, { labels: { x } }))))
      const names = (list: Answered) => list.items?.map(item => item.metadata.name)
      const gone = await expect(200, client(`${own}?labelSelector=x%3Dy`, remove()))
      assert.deepEqual([gone.kind, names(gone)], ['WidgetList', ['a', 'b']])
      assert.deepEqual(names(await expect(200, client(own))), ['c'])
      assert.equal((await client('/apis/example.com/v1/widgets', remove())).status, 404)
      await expect(405, client('/api/v1/configmaps', remove()))
      await expect(405, client('/api/v1/namespaces?labelSelector=no%3Done', remove()))
    })
  })
}
