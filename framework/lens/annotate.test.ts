import assert from 'node:assert/strict'
import { PickedBatch } from '../contract/batch.ts'
import { encodedOf, type Item, itemFrom, itemOf, relabeledItem } from '../contract/item.ts'
import type { KubeObject } from '../meta/object.ts'
import { encodeObject } from '../wire/encode.ts'
import { type Annotator, annotator } from './annotate.ts'

describe('an annotator', () => {
  const added = { 'b.example.com/path': 'root:ünder"', c: '' }
  const object = (name: string, annotations?: Record<string, string>, more = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'ns', ...(annotations && { annotations }), ...more },
    data: { text: 'ünchanged' },
  })
  const encoded = (from: KubeObject): Item =>
    itemFrom(encodeObject(from), { cluster: 'one', namespace: 'ns', name: from.metadata.name ?? '' })
  const expected = ({ metadata, ...rest }: KubeObject): KubeObject => ({
    ...rest,
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...added } },
  })
  const copied = (item: Item): Buffer => {
    const target = Buffer.alloc((item.length ?? 0) + 5, '.')
    const length = item.copy?.(target, 3) ?? 0
    assert.equal(target.toString('latin1', 0, 3), '...')
    assert.match(target.toString('latin1', 3 + length), /^\.*$/)
    return target.subarray(3, 3 + length)
  }

  /** Checks that all representations of an item are equal. */
  function check(annotate: Annotator, item: Item): void {
    const annotated = annotate.item(item)
    const wanted = encodeObject(expected(item.object))
    assert.equal(copied(annotated).toString(), wanted.bytes.toString())
    assert.deepEqual(encodedOf(annotated), wanted)
    assert.deepEqual(annotated.object, expected(item.object))
    assert.deepEqual(annotated.meta.annotations, expected(item.object).metadata.annotations)
    assert.deepEqual(annotated.key, item.key)
    assert.equal(annotated.length === undefined || annotated.length >= wanted.bytes.length, true)
  }

  const objects = [
    object('a', { 'kcp.io/cluster': 'one' }),
    object('b', { 'kcp.io/cluster': 'one' }, { labels: { app: 'x' }, resourceVersion: '7' }),
    object('c', { 'kcp.io/cluster': 'two' }),
    object('d', { a: '1', 'b.example.com/path': 'old', 'kcp.io/cluster': 'two' }),
    object('e'),
    object('f', {}, { labels: { annotations: '{}' } }),
  ]

  it('puts its annotations into every item', () => {
    for (const from of objects) check(annotator(added), encoded(from))
  })

  it('puts them into items that lie together, whatever stands before them', () => {
    const annotate = annotator(added)
    for (const first of objects)
      for (const second of objects) {
        const annotated = annotate.batch(new PickedBatch([first, second, second].map(encoded)))
        const wanted = [first, second, second].map(from => encodeObject(expected(from)).bytes)
        assert.equal(String(annotated.bytes), wanted.join(','))
        assert.deepEqual(
          Array.from(annotated, item => item.bytes),
          wanted,
        )
        assert.equal(annotated.length, 3)
      }
  })

  it('takes annotations of its names out of the place where they stood', () => {
    const own = object('a', { 'b.example.com/path': 'a very much longer path than the new one', c: 'x' })
    const { bytes } = annotator(added).batch(new PickedBatch([encoded(own)]))
    assert.equal(String(bytes), String(encodeObject(expected(own)).bytes))
  })

  it('leaves items as they are when it has none to put there', () => {
    const batch = new PickedBatch(objects.map(encoded))
    assert.equal(String(annotator({}).batch(batch).bytes), String(batch.bytes))
  })

  it('does not copy bytes again that it has just copied', () => {
    const annotate = annotator(added)
    const batch = new PickedBatch(objects.map(encoded))
    assert.equal(annotate.batch(batch).bytes, annotate.batch(batch).bytes)
    assert.notEqual(annotator(added).batch(batch).bytes, annotate.batch(batch).bytes)
  })

  it('takes items that are not encoded, or rewritten already', () => {
    const annotate = annotator(added)
    for (const from of objects) {
      assert.deepEqual(annotate.item(itemOf(from, 'one')).object, expected(from))
      const [unencoded] = annotate.batch([itemOf(from, 'one')])
      assert.deepEqual(unencoded?.object, expected(from))
      const relabeled = relabeledItem(encoded(from), { labels: { new: 'label' } })
      assert.deepEqual(annotate.item(relabeled).object, expected(relabeled.object))
      assert.deepEqual(
        annotator({ later: '1' }).item(annotate.item(encoded(from))).object.metadata.annotations,
        {
          ...from.metadata.annotations,
          ...added,
          later: '1',
        },
      )
    }
  })
})
