import assert from 'node:assert/strict'
import { type Annotator, annotator } from './annotate.ts'
import { encodeObject } from './encode.ts'
import { encodedOf, type Item, itemFrom, itemOf, relabeledItem } from './item.ts'
import type { KubeObject } from './object.ts'

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
  const copied = (item: Item, from = 0): Buffer => {
    const target = Buffer.alloc((item.length ?? 0) + 5, '.')
    const length = item.copy?.(target, 3, from) ?? 0
    assert.equal(target.toString('latin1', 0, 3), '...')
    assert.match(target.toString('latin1', 3 + length), /^\.*$/)
    return target.subarray(3, 3 + length)
  }

  /** Everything that can be asked of an item says the same. */
  function check(annotate: Annotator, item: Item): void {
    const annotated = annotate(item)
    const wanted = encodeObject(expected(item.object))
    assert.equal(copied(annotated).toString(), wanted.bytes.toString())
    assert.deepEqual(copied(annotated, 20), wanted.bytes.subarray(20))
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
    { apiVersion: 'v1', kind: 'Secret', metadata: { annotations: { 'kcp.io/cluster': 'one' } } },
  ]

  it('puts its annotations into every item, whatever the one before was', () => {
    const annotate = annotator(added)
    for (const first of objects)
      for (const second of objects) {
        check(annotate, encoded(first))
        check(annotate, encoded(second))
      }
  })

  it('takes items that are not encoded, or rewritten already', () => {
    const annotate = annotator(added)
    for (const from of objects) {
      assert.deepEqual(annotate(itemOf(from, 'one')).object, expected(from))
      const relabeled = relabeledItem(encoded(from), { labels: { new: 'label' } })
      assert.deepEqual(annotate(relabeled).object, expected(relabeled.object))
      assert.deepEqual(annotator({ later: '1' })(annotate(encoded(from))).object.metadata.annotations, {
        ...from.metadata.annotations,
        ...added,
        later: '1',
      })
    }
  })
})
