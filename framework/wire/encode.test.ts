import assert from 'node:assert/strict'
import fc from 'fast-check'
import { decodeItem, encodedOf, itemFrom, itemOf } from '../contract/item.ts'
import { canonicalJson, formatJson } from '../json/json.ts'
import type { KubeObject } from '../meta/object.ts'
import {
  annotationsOf,
  atVersion,
  canonicalObject,
  decodeObject,
  type Encoded,
  encodeObject,
  labelsOf,
  metadataOf,
  resourceVersionOf,
  withResourceVersion,
} from './encode.ts'
import { relabel } from './relabel.ts'

const texts = fc.dictionary(
  fc.oneof(fc.string({ unit: 'binary' }), fc.constant('__proto__')),
  fc.string({ unit: 'binary' }),
  {
    maxKeys: 3,
    noNullPrototype: true,
  },
)
const json = fc.jsonValue().map(value => JSON.parse(JSON.stringify(value)))

const objects: fc.Arbitrary<KubeObject> = fc
  .record(
    {
      apiVersion: fc.string(),
      kind: fc.string({ unit: 'grapheme' }),
      metadata: fc.record(
        {
          name: fc.string(),
          uid: fc.string(),
          resourceVersion: fc.nat().map(String),
          labels: texts,
          annotations: texts,
        },
        { requiredKeys: [], noNullPrototype: true },
      ),
      spec: json,
      '': json,
    },
    { requiredKeys: ['apiVersion', 'kind', 'metadata'], noNullPrototype: true },
  )
  .map(object => JSON.parse(JSON.stringify(object)))

/** Normalizes an object like the canonical encoding: empty labels, annotations and versions are absent. */
function normal(object: KubeObject): KubeObject {
  const { labels, annotations, resourceVersion, ...rest } = object.metadata
  const metadata = {
    ...rest,
    ...(Object.keys(labels ?? {}).length > 0 ? { labels } : {}),
    ...(Object.keys(annotations ?? {}).length > 0 ? { annotations } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
  }
  return { ...object, metadata } as KubeObject
}

const same = (encoded: Encoded, object: KubeObject): void => {
  const expected = encodeObject(normal(object))
  assert.equal(encoded.bytes.toString(), expected.bytes.toString())
  assert.deepEqual(encoded.offsets, expected.offsets)
}

describe('encode', () => {
  it('puts apiVersion, kind and metadata first, and in metadata the members that views rewrite', () => {
    const object = {
      spec: { b: 1, a: [] },
      metadata: {
        uid: 'u',
        name: 'n',
        labels: { b: '1', a: 'ü' },
        resourceVersion: '7',
        annotations: { x: 'y' },
      },
      kind: 'K',
      apiVersion: 'v1',
    }
    assert.equal(
      encodeObject(object).bytes.toString(),
      '{"apiVersion":"v1","kind":"K","metadata":{"annotations":{"x":"y"},"labels":{"a":"ü","b":"1"},' +
        '"resourceVersion":"7","name":"n","uid":"u"},"spec":{"a":[],"b":1}}',
    )
  })

  it('decodes to the encoded object, and each part to its value', () => {
    fc.assert(
      fc.property(objects, object => {
        const encoded = encodeObject(object)
        assert.equal(canonicalJson(decodeObject(encoded.bytes)), canonicalJson(normal(object)))
        assert.equal(canonicalJson(annotationsOf(encoded)), canonicalJson(object.metadata.annotations ?? {}))
        assert.equal(canonicalJson(labelsOf(encoded)), canonicalJson(object.metadata.labels ?? {}))
        assert.equal(canonicalJson(metadataOf(encoded)), canonicalJson(normal(object).metadata))
        assert.equal(resourceVersionOf(encoded), object.metadata.resourceVersion ?? '')
      }),
    )
  })

  it('keeps the object without decoding it, with the order of keys', () => {
    fc.assert(
      fc.property(objects, fc.constantFrom('', '7'), (object, version) => {
        const { bytes } = withResourceVersion(encodeObject(object), version)
        const known = atVersion(canonicalObject(object), version)
        assert.deepEqual(known, decodeObject(bytes))
        assert.equal(formatJson(known), bytes.toString())
      }),
    )
  })

  it('splices a resourceVersion as if it had been encoded with it', () => {
    fc.assert(
      fc.property(objects, fc.constantFrom('', '1', '18446744073709551615'), (object, resourceVersion) => {
        const spliced = withResourceVersion(encodeObject(object), resourceVersion)
        same(spliced, { ...object, metadata: { ...object.metadata, resourceVersion } })
      }),
    )
  })

  it('relabels as if it had been encoded with those labels and annotations', () => {
    fc.assert(
      fc.property(objects, texts, texts, (object, labels, annotations) => {
        const relabeled = relabel(encodeObject(object), { labels, annotations })
        same(relabeled, { ...object, metadata: { ...object.metadata, labels, annotations } })
      }),
    )
  })

  it('keeps 64-bit integers, and __proto__ as an ordinary key', () => {
    const text =
      '{"apiVersion":"v1","kind":"K","metadata":{"name":"n"},"spec":{"__proto__":{"a":9007199254740993},"b":-9223372036854775808}}'
    assert.equal(encodeObject(decodeObject(Buffer.from(text))).bytes.toString(), text)
  })
})

describe('items', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'K',
    metadata: { namespace: 'ns', name: 'n', uid: 'u', resourceVersion: '3', labels: { a: 'b' } },
    data: { x: 'y' },
  }

  it('are equal for an object, canonical bytes, and other bytes', () => {
    const ours = itemOf(object, 'root')
    const theirs = decodeItem(Buffer.from(JSON.stringify(object)), 'root')
    const stored = itemFrom(encodedOf(ours), ours.key)
    for (const item of [theirs, stored]) {
      assert.deepEqual(item.key, { cluster: 'root', namespace: 'ns', name: 'n' })
      assert.equal(item.bytes.toString(), ours.bytes.toString())
      assert.deepEqual(item.object, object)
      const { uid, resourceVersion, labels, annotations } = item.meta
      assert.deepEqual(
        { uid, resourceVersion, labels, annotations },
        { uid: 'u', resourceVersion: '3', labels: { a: 'b' }, annotations: {} },
      )
    }
  })

  it('use the cluster annotation of other bytes', () => {
    const foreign = { ...object, metadata: { ...object.metadata, annotations: { 'kcp.io/cluster': 'abc' } } }
    assert.equal(decodeItem(Buffer.from(JSON.stringify(foreign)), '*').key.cluster, 'abc')
  })
})
