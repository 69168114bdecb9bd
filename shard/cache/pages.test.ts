import assert from 'node:assert/strict'
import fc from 'fast-check'
import { idOf, pageBytes } from '../../framework/cache/page.ts'
import { idsUnder, PageMap, type Snapshot } from '../../framework/cache/pages.ts'
import type { KubeObject } from '../../framework/meta/object.ts'
import { encodeObject } from '../../framework/wire/encode.ts'
import { CachedItem } from './item.ts'
import { keyOf, objectOf } from './testing/fixture.ts'

/** As long as a UUID. */
const uidOf = (id: string): string => id.padEnd(36, '-')

function itemFor(id: string, revision: number, content: object): CachedItem {
  const { metadata, ...object } = objectOf(id, String(revision))
  const encoded = encodeObject({
    ...object,
    ...content,
    metadata: { ...metadata, uid: uidOf(id) },
  } as KubeObject)
  return new CachedItem(keyOf(id), encoded, { revision, modified: revision, labels: {} })
}

const item = (id: string, revision: number, length = 0): CachedItem =>
  itemFor(id, revision, { text: 'x'.repeat(length) })

const typeOf = 'apiVersion":"v1","kind":"ConfigMap","'
const untypedText = ({ bytes }: CachedItem): string => bytes.toString().replace(typeOf, '')

const idAt = (n: number): string => `c${n % 7}/n/x${String(n).padStart(4, '0')}`

/** Ids and revisions by the items, and the same items by their joined bytes, without apiVersion and kind if these are equal. */
const shown = ({ id, revision }: CachedItem): string => `${id}@${revision}`

function contents(snapshot: Snapshot<CachedItem>, prefix = '', isUntyped = true): string[] {
  return [...snapshot.runs(idsUnder(prefix))].flatMap(({ page, from, to }) => {
    const items = page.items.slice(from, to)
    const untyped = isUntyped ? items.map(untypedText).join(',') : undefined
    assert.equal(page.untyped(from, to)?.toString(), untyped)
    for (const { uid, id, object, annotations } of items) {
      assert.equal(uid, uidOf(id))
      assert.deepEqual(annotations, object.metadata.annotations)
    }
    if (from % 2 === 0)
      assert.equal(page.bytes(from, to).toString(), items.map(({ bytes }) => bytes.toString()).join(','))
    return items.map(shown)
  })
}

const sorted = (model: ReadonlyMap<string, number>, prefix = ''): string[] =>
  [...model]
    .filter(([id]) => id.startsWith(prefix))
    .map(([id, revision]) => `${id}@${revision}`)
    .sort((a, b) => (a < b ? -1 : 1))

describe('pages', () => {
  it('hand out the same buffer until they change', () => {
    const pages = new PageMap<CachedItem>()
    const bytes = (): Buffer | undefined => pages.snapshot().pages[0]?.bytes(0, pages.size)
    for (let n = 0; n < 20; n++) pages.put(item(`c/n/x${n}`, 1))
    const before = bytes()
    assert.equal(bytes(), before)
    pages.put(item('c/n/x7', 2))
    assert.notEqual(bytes(), before)
  })

  it('are a sorted map, and snapshots of them never change', () => {
    const step = fc.record({
      n: fc.nat(1_500),
      times: fc.nat(400),
      kind: fc.constantFrom('put', 'put', 'remove', 'snapshot'),
    })
    const property = fc.property(fc.array(step, { maxLength: 40, size: 'max' }), steps => {
      const pages = new PageMap<CachedItem>()
      const model = new Map<string, number>()
      const taken: [Snapshot<CachedItem>, string[]][] = []
      steps.forEach(({ n, times, kind }, revision) => {
        if (kind === 'snapshot') taken.push([pages.snapshot(), sorted(model)])
        for (let i = n; kind !== 'snapshot' && i < n + times; i++) {
          const id = idAt(i)
          if (kind === 'put') pages.put(item(id, revision))
          else pages.remove(id)
          if (kind === 'put') model.set(id, revision)
          else model.delete(id)
        }
      })
      for (const [snapshot, expected] of taken) assert.deepEqual(contents(snapshot), expected)
      const now = pages.snapshot()
      assert.deepEqual(contents(now), sorted(model))
      assert.deepEqual(contents(now, 'c3/'), sorted(model, 'c3/'))
      assert.equal(now.count(idsUnder('c3/')), sorted(model, 'c3/').length)
      assert.deepEqual(pages.within(idsUnder('c3/')).map(shown), sorted(model, 'c3/'))
      assert.equal(pages.count(idsUnder('c3/')), sorted(model, 'c3/').length)
      assert.deepEqual([pages.size, now.size], [model.size, model.size])
      for (const [id, revision] of model) assert.equal(pages.get(id)?.revision, revision)
      for (const page of now.pages) assert.ok(page.items.length > 0 && page.items.length <= 192)
    })
    fc.assert(property, { numRuns: 40 })
  })

  it('create a changed snapshot that shares unchanged pages', () => {
    const pages = new PageMap<CachedItem>()
    for (let n = 0; n < 1_000; n++)
      pages.put(item(idOf({ cluster: 'c', namespace: 'n', name: `x${1_000 + n}` }), 1))
    const before = pages.snapshot()
    const after = before.with(
      new Map([
        ['c/n/x1005', item('c/n/x1005', 2)],
        ['c/n/x1006', undefined],
        ['c/n/a', item('c/n/a', 2)],
      ]),
    )
    assert.equal(contents(before).length, 1_000)
    assert.deepEqual(contents(after).slice(0, 1), ['c/n/a@2'])
    assert.ok(contents(after).includes('c/n/x1005@2'))
    assert.ok(!contents(after).some(text => text.startsWith('c/n/x1006')))
    assert.ok(after.pages.filter(page => before.pages.includes(page)).length >= before.pages.length - 1)
  })

  it('are small where objects are large, so that a change copies little of its neighbours', () => {
    const pages = new PageMap<CachedItem>()
    const most = 2 * pageBytes
    const sizes = (): number[] => pages.snapshot().pages.map(page => page.bytes(0, page.items.length).length)
    for (let n = 0; n < 150; n++) pages.put(item(`c/n/x${1_000 + n}`, 1))
    for (let n = 0; n < 150; n++) pages.put(item(`c/n/x${1_000 + n}`, 2, pageBytes / 4))
    assert.ok(Math.max(...sizes()) <= most, 'when they grow')
    for (let n = 0; n < 50; n++) pages.put(item(`d/n/x${1_000 + n}`, 1, pageBytes / 4))
    assert.ok(Math.max(...sizes()) <= most, 'when they come in order')
    for (let n = 0; n < 150; n += 2) pages.remove(`c/n/x${1_000 + n}`)
    assert.ok(Math.max(...sizes()) <= most, 'when others go')
    assert.equal(contents(pages.snapshot()).length, 125)
  })

  it('hand out no bytes without apiVersion and kind when these differ, and all bytes as before', () => {
    const pages = new PageMap<CachedItem>()
    for (let n = 0; n < 20; n++) pages.put(item(`c/n/x${n}`, 1))
    assert.equal(contents(pages.snapshot()).length, 20)
    pages.put(itemFor('c/n/x7', 2, { kind: 'Secret' }))
    assert.equal(contents(pages.snapshot(), '', false).length, 20)
    assert.equal(pages.get('c/n/x7')?.object.kind, 'Secret')
    pages.put(item('c/n/x7', 3))
    assert.equal(contents(pages.snapshot()).length, 20)
    for (let n = 0; n < 20; n++) assert.equal(pages.get(`c/n/x${n}`)?.object.kind, 'ConfigMap')
  })

  it('are filled completely when items are added in order', () => {
    const pages = new PageMap<CachedItem>()
    for (let n = 0; n < 1_280; n++) pages.put(item(`c/n/x${10_000 + n}`, 1))
    assert.equal(pages.snapshot().pages.length, 10)
  })
})
