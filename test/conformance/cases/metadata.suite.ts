import assert from 'node:assert/strict'
import type { Reply } from '../../support/client.ts'
import {
  betterInViews,
  configMapsIn,
  expect,
  merge,
  namespaces,
  post,
  put,
  remove,
  type Target,
  widget,
  widgetsIn,
} from '../fixture.ts'

/** How metadata of clients is stored, validated and warned about (rules.md 3.1 to 3.30). */
export function metadataCases(target: () => Target): void {
  let ns = ''
  before(async () => {
    ns = await target().namespace()
  })
  const create = (metadata: object, spec: object = {}): Promise<Reply> =>
    target().client(widgetsIn(ns), post(widget(target().fresh(), spec, metadata)))
  const at = (name = ''): string => `${widgetsIn(ns)}/${name}`

  it('has system fields that clients cannot set (3.1, 3.8, 3.17, 3.19)', async () => {
    const sent = {
      uid: '11111111-1111-4111-8111-111111111111',
      creationTimestamp: '2001-02-03T04:05:06Z',
      deletionTimestamp: '2001-02-03T04:05:06Z',
      deletionGracePeriodSeconds: -3,
      generation: -7,
      selfLink: '/here',
    }
    const { metadata } = await expect(201, create(sent))
    assert.notEqual(metadata.uid, sent.uid)
    assert.notEqual(metadata.creationTimestamp, sent.creationTimestamp)
    assert.equal(metadata.generation, 1)
    for (const none of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink'])
      assert.ok(!(none in metadata), none)
  })

  it('has no namespace in cluster-scoped objects (3.2)', async () => {
    const name = target().fresh()
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, namespace: 'other' } }
    const { metadata } = await expect(201, target().client(namespaces, post(body)))
    assert.equal(metadata.namespace, undefined)
  })

  it('keeps a given name, and truncates generateName (3.4)', async () => {
    const both = await expect(201, create({ generateName: 'w-' }))
    assert.match(both.metadata.name ?? '', /^w\d+$/)
    assert.equal(both.metadata.generateName, 'w-')
    const long = await expect(201, create({ name: '', generateName: 'x'.repeat(80) }))
    assert.match(long.metadata.name ?? '', /^x{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  })

  it('is validated before the object is looked up (3.11)', async () => {
    const name = target().fresh()
    const again = (spec: object) => target().client(widgetsIn(ns), post(widget(name, spec)))
    await expect(201, again({}))
    await expect(409, again({}))
    await expect(422, again({ size: 99 }))
  })

  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u' }
  const refusals: readonly [what: string, metadata: object, text: RegExp][] = [
    [
      'name (3.7)',
      { name: 'x'.repeat(254) },
      /metadata\.name: Invalid value: "x+": must be no more than 253 characters/,
    ],
    [
      'a name that was made from a bad one (3.6)',
      { name: '', generateName: 'A-' },
      /metadata\.name: Invalid value: "A-[a-z0-9]{5}": a lowercase RFC 1123 subdomain must consist/,
    ],
    [
      'keys of labels (3.12)',
      { labels: { 'a b': '' } },
      /metadata\.labels: Invalid value: "a b": name part must/,
    ],
    [
      'values of labels (3.12)',
      { labels: { a: '!' } },
      /metadata\.labels: Invalid value: "!": a valid label must/,
    ],
    [
      'annotations (3.13)',
      { annotations: { a: 'x'.repeat(262_144) } },
      /metadata\.annotations: Too long: may not be more than 262144 bytes/,
    ],
    [
      'owners (3.14)',
      { ownerReferences: [{ ...owner, uid: '' }] },
      /metadata\.ownerReferences\.uid: Invalid value: "": must not be empty/,
    ],
    [
      'two controllers (3.14)',
      {
        ownerReferences: ['a', 'b'].map(name => ({ ...owner, name, uid: name, controller: true })),
      },
      /Only one reference can have Controller set to true\. Found "true" in references for ConfigMap\/a and ConfigMap\/b/,
    ],
    [
      'two ways to go (3.16)',
      { finalizers: ['orphan', 'foregroundDeletion'] },
      /metadata\.finalizers: Invalid value: .*: finalizer orphan and foregroundDeletion cannot be both set/,
    ],
  ]
  for (const [what, metadata, text] of refusals)
    it(`is refused for ${what}`, async () => {
      const { message } = await expect(422, create(metadata))
      assert.match(message ?? '', text)
    })

  it('returns warnings for duplicate owner references (3.15)', async () => {
    const reply = await create({ ownerReferences: [owner, owner] })
    assert.deepEqual((await expect(201, Promise.resolve(reply))).metadata.ownerReferences, [owner])
    assert.equal(
      reply.headers.warning,
      '299 - ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u"',
    )
  })

  betterInViews(target, 'brings warnings of new finalizers that belong to nobody (3.16)', async () => {
    const reply = await create({ finalizers: ['example.com/ok', 'example.com'] })
    const { metadata } = await expect(201, Promise.resolve(reply))
    assert.match(
      String(reply.headers.warning),
      /^299 - "metadata\.finalizers: \\"example\.com\\": prefer a domain-qualified finalizer name including a path \(\/\) to avoid accidental conflicts with other finalizer writers"$/,
    )
    const path = at(metadata.name)
    const again = await target().client(path, merge({ metadata: { labels: { a: 'b' } } }))
    assert.deepEqual([again.status, again.headers.warning], [200, undefined])
    await expect(200, target().client(path, merge({ metadata: { finalizers: null } })))
  })

  it('needs no version for kinds with unconditional updates (3.22)', async () => {
    const maps = configMapsIn(ns)
    const map = (value: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'last' },
      data: { a: value },
    })
    await expect(201, target().client(maps, post(map('1'))))
    const { data } = await expect(200, target().client(`${maps}/last`, put(map('2'))))
    assert.deepEqual(data, { a: '2' })
    await expect(404, target().client(`${maps}/nobody`, put({ ...map('1'), metadata: { name: 'nobody' } })))
  })

  it('keeps its uid and its times (2.15, 3.24)', async () => {
    const made = await expect(201, create({}))
    const other = { ...made, metadata: { ...made.metadata, uid: 'other' } }
    const { message } = await expect(409, target().client(at(made.metadata.name), put(other)))
    assert.match(message ?? '', /Precondition failed: UID in precondition: other, UID in object meta: /)
    const early = { ...made.metadata, creationTimestamp: '2001-02-03T04:05:06Z', generation: 77 }
    const kept = await expect(200, target().client(at(made.metadata.name), put({ ...made, metadata: early })))
    assert.deepEqual(
      [kept.metadata.creationTimestamp, kept.metadata.generation],
      [made.metadata.creationTimestamp, 1],
    )
    const ending = { metadata: { deletionTimestamp: '2001-02-03T04:05:06Z' } }
    const refused = await expect(422, target().client(at(made.metadata.name), merge(ending)))
    assert.match(refused.message ?? '', /metadata\.deletionTimestamp: Invalid value: .*: field is immutable$/)
  })

  it('reports that the object is being deleted when another of its name is created (2.7h)', async () => {
    const made = await expect(201, create({ finalizers: ['example.com/f'] }))
    const name = made.metadata.name ?? ''
    await expect(200, target().client(at(name), remove()))
    const { message } = await expect(409, target().client(widgetsIn(ns), post(widget(name))))
    assert.equal(message, `object is being deleted: widgets.example.com "${name}" already exists`)
    await expect(200, target().client(at(name), merge({ metadata: { finalizers: null } })))
  })
}
