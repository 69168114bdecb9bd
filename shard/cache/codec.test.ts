import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { KubeObject } from '../../framework/meta/object.ts'
import { labelsOf, metadataOf, resourceVersionOf } from '../../framework/wire/encode.ts'
import {
  atRevision,
  decodeStored,
  encodeStored,
  KeyParser,
  parseStorageKey,
  SharedTexts,
  storageKey,
} from './codec.ts'
import { Builder } from './item.ts'
import { configMaps, keyOf, objectOf } from './testing/fixture.ts'

describe('stored objects', () => {
  const object = objectOf('root/default/x', 'ä', { app: 'web' })

  it('have no resourceVersion until they are presented at a revision', () => {
    const sent = { ...object, metadata: { ...object.metadata, resourceVersion: '3' } }
    const stored = encodeStored(sent)
    assert.deepEqual(stored, encodeStored(object))
    const decoded = decodeStored(stored)
    assert.deepEqual(JSON.parse(decoded.bytes.toString()), object)
    assert.equal(resourceVersionOf(decoded), '')
    for (const revision of [7, 1_234_567, 9]) {
      const presented = atRevision(decoded, revision)
      const resourceVersion = String(revision)
      assert.deepEqual(JSON.parse(presented.bytes.toString()), {
        ...object,
        metadata: { ...object.metadata, resourceVersion },
      })
      assert.equal(resourceVersionOf(presented), resourceVersion)
      assert.deepEqual(labelsOf(presented), { app: 'web' })
      assert.equal(metadataOf(presented).uid, 'uid-root/default/x')
      assert.deepEqual(atRevision(presented, 8), atRevision(decoded, 8))
    }
  })

  it('may have nothing but a name, or not even that', () => {
    for (const metadata of [{}, { name: 'x' }, { labels: { a: 'b' } }]) {
      const bare = { apiVersion: 'v1', kind: 'K', metadata }
      const presented = atRevision(decodeStored(encodeStored(bare)), 5)
      assert.deepEqual(JSON.parse(presented.bytes.toString()), {
        ...bare,
        metadata: { ...metadata, resourceVersion: '5' },
      })
    }
  })

  it('tell whether they can have owner references without being decoded', () => {
    const owner = { apiVersion: 'v1', kind: 'K', name: 'o', uid: randomUUID() }
    const managedFields = [{ manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' }]
    const builder = new Builder()
    const uids = [randomUUID(), 'short', `long-${randomUUID()}`, undefined]
    for (const uid of uids)
      for (const ownerReferences of [undefined, [owner], [{ ...owner, uid: owner.uid.slice(2) }]])
        for (const more of [{}, { managedFields }, { namespace: '' }, { annotations: { a: ']' } }]) {
          const metadata = {
            name: 'x',
            ...more,
            ...(uid && { uid }),
            ...(ownerReferences && { ownerReferences }),
          }
          const value = encodeStored({ apiVersion: 'v1', kind: 'K', metadata })
          const stored = { key: 'k', value, modified: 7, created: 7 }
          const item = builder.build(configMaps, { key: keyOf('root/default/x'), stored })
          assert.equal(item.mayHaveOwners, ownerReferences !== undefined, JSON.stringify(metadata))
          const bytes = ownerReferences === undefined ? 0 : JSON.stringify(ownerReferences).length
          assert.ok(item.ownerBytes >= bytes && item.ownerBytes <= bytes * 2, JSON.stringify(metadata))
        }
  })

  it('tell whether they can be terminating without being decoded', () => {
    const builder = new Builder()
    const times = [
      '2026-11-24T02:45:00Z',
      '2026-11-24T02:45:00.123Z',
      '2026-11-24T02:45:00+00:00',
      null,
      undefined,
    ]
    const ends = [
      {},
      { deletionTimestamp: 'now' },
      { deletionTimestamp: 'now', deletionGracePeriodSeconds: 3 },
    ]
    for (const creationTimestamp of times)
      for (const end of ends)
        for (const more of [{}, { labels: { a: '"deletion' } }, { finalizers: ['x'] }]) {
          const metadata = {
            name: 'x',
            ...more,
            ...end,
            ...(creationTimestamp !== undefined && { creationTimestamp }),
          }
          const value = encodeStored({ apiVersion: 'v1', kind: 'K', metadata } as KubeObject)
          const item = builder.build(configMaps, {
            key: keyOf('r/d/x'),
            stored: { key: 'k', value, modified: 7, created: 7 },
          })
          const isTerminating = 'deletionTimestamp' in end
          const isKnown = creationTimestamp === times[0]
          assert.equal(item.mayBeTerminating, isTerminating || !isKnown, JSON.stringify(metadata))
          assert.equal(item.isTerminating, isTerminating, JSON.stringify(metadata))
        }
  })

  it('of an unknown format are refused', () => {
    assert.throws(() => decodeStored(Buffer.from('{}')), /unknown format 123/)
  })
})

describe('storage keys', () => {
  it('are read back', () => {
    for (const id of ['root/default/x', 'root//x']) {
      for (const resource of [configMaps, { group: 'example.io', resource: 'widgets', segment: 'a1b2' }])
        assert.deepEqual(parseStorageKey(storageKey(resource, keyOf(id))), { resource, key: keyOf(id) })
    }
    assert.equal(
      storageKey(configMaps, keyOf('root/default/x')),
      '/registry/root/core/configmaps/-/default/x',
    )
  })

  it('of other keys are undefined', () => {
    for (const key of [
      '',
      '/registry/',
      '/registry/a/core/r/-/n',
      '/registry/a/core/r/-/n/x/y',
      '/x/a/core/r/-/n/x',
      '/registry/a/core/r/-/n/',
    ])
      assert.equal(parseStorageKey(key), undefined)
  })

  it('in order are read like single ones, with the same strings of namespaces', () => {
    const keys = [
      'a/n1/x',
      'a/n1/y',
      'a/n2/',
      'a/n2/x',
      'a/n2/x/y',
      'a/n3/z',
      'b/n3/z',
      'b/n3/',
      'b//z',
    ].flatMap(id => ['core/r', 'g/r'].map(resource => `/registry/${id.replace('/', `/${resource}/-/`)}`))
    const parser = new KeyParser(({ resource }) => resource)
    const all = [...keys.sort(), '/other/a/core/r/-/n/x', '', ...keys]
    assert.deepEqual(
      all.map(key => parser.parse(key)),
      all.map(parseStorageKey),
    )
    const [one, two] = ['x', 'y'].map(name => parser.parse(`/registry/a/core/r/-/n/${name}`))
    assert.equal(one?.resource, two?.resource)
  })

  it('have the texts that they had, also where others took their places', () => {
    const texts = new SharedTexts()
    const shared = (cluster: string) => texts.inKey({ cluster, namespace: 'default', name: 'a' })
    for (let i = 0; i < 10_000; i++) assert.deepEqual(shared(`c${i}`).cluster, `c${i}`)
    assert.deepEqual(shared('c1'), { cluster: 'c1', namespace: 'default', name: 'a' })
  })
})
