import assert from 'node:assert/strict'
import fc from 'fast-check'
import { itemFrom, relabeledItem } from '../../framework/contract/item.ts'
import { type Item, itemOf, type KubeObject } from '../../framework/index.ts'
import { parseFieldPath } from './fields/fieldsteps.ts'
import { Masker, withoutFields } from './masker.ts'

const apiVersion = 'example.com/v1'
const key = fc.constantFrom('a', 'b', 'token', 'c-d', 'é"\\')
const leaf = fc.oneof(
  fc.string(),
  fc.constantFrom('}', '"', '\\', '{"token":1}', ',', '\u2028'),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(null, true, false),
)
const { tree } = fc.letrec(tie => ({
  tree: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    leaf,
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
  ),
}))
const { owned } = fc.letrec(tie => ({
  owned: fc.dictionary(
    fc.constantFrom('.', 'f:spec', 'f:a', 'f:b', 'f:token', 'k:{"a":"}"}'),
    fc.oneof({ maxDepth: 4 }, fc.constant({}), tie('owned')),
    { maxKeys: 3 },
  ),
}))
const entry = fc.record(
  {
    manager: fc.constantFrom('a', 'b'),
    operation: fc.constantFrom('Apply', 'Update'),
    apiVersion: fc.constantFrom('example.com/v1', 'example.com/v1', 'example.com/v1', 'example.com/v2'),
    fieldsV1: owned,
  },
  { requiredKeys: ['manager', 'operation'] },
)
const applied = fc.constantFrom(
  ...['v1', 'v2'].map(version => `{"apiVersion":"example.com/${version}","spec":{"token":"s","a":1}}`),
  ...['no JSON', '{}', 'null'],
)
const metadata = fc.record(
  {
    name: fc.constant('w'),
    uid: fc.constant('u'),
    resourceVersion: fc.constant('7'),
    labels: fc.dictionary(key, fc.string(), { maxKeys: 2 }),
    annotations: fc.record(
      { 'kcp.io/cluster': fc.constant('one'), 'kubectl.kubernetes.io/last-applied-configuration': applied },
      { requiredKeys: ['kcp.io/cluster'] },
    ),
    managedFields: fc.array(entry, { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: ['name', 'uid', 'resourceVersion'] },
)
const object = fc
  .record({ metadata, spec: tree, data: tree }, { requiredKeys: ['metadata'] })
  .map(parts => ({ apiVersion, kind: 'Widget', ...parts }) as unknown as KubeObject)

const path = fc.constantFrom(
  ...['spec', 'spec.a', 'spec.token', 'spec.a.token', 'spec[*].token', 'spec.a[*].b', 'data', 'data[c-d]'],
  ...['data[é"\\]', 'data[*].a[*].b', 'metadata.labels[a]', 'status'],
)
const pathsOf = (texts: readonly string[]) =>
  texts.flatMap(text => {
    const steps = parseFieldPath(text)
    return steps === undefined ? [] : [steps]
  })

/** As the store has it: bytes that were not decoded. */
function stored(whole: KubeObject): Item {
  const { bytes, offsets, key } = itemOf(whole, 'one')
  if (offsets === undefined) throw new Error('the item has no offsets')
  return itemFrom({ bytes, offsets }, key)
}

describe('hidden fields that are removed from bytes', () => {
  it('leave the bytes of the decoded object without them', () => {
    fc.assert(
      fc.property(object, fc.array(path, { minLength: 1, maxLength: 3 }), (whole, texts) => {
        const paths = pathsOf(texts)
        const masked = new Masker(paths, apiVersion).masked(stored(whole))
        const expected = itemOf(withoutFields(stored(whole).object, paths), 'one')
        assert.equal(masked.bytes.toString(), expected.bytes.toString())
        assert.deepEqual(stored(masked.object).object, stored(expected.object).object)
        assert.deepEqual({ ...masked.meta.labels }, { ...expected.meta.labels })
        const more = { annotations: { ...masked.meta.annotations, 'x/y': 'z' } }
        assert.equal(
          relabeledItem(masked, more).bytes.toString(),
          relabeledItem(expected, more).bytes.toString(),
        )
      }),
      { numRuns: 200 },
    )
  })

  it('do not decode objects with ordinary managed fields', () => {
    const whole = {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: {
        name: 'w',
        uid: 'u',
        resourceVersion: '7',
        annotations: { 'kcp.io/cluster': 'one' },
        managedFields: [
          {
            manager: 'a',
            operation: 'Update',
            apiVersion: 'example.com/v1',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:spec': { '.': {}, 'f:token': {}, 'f:color': {} } },
          },
        ],
      },
      spec: { color: 'red', token: 's3cret', list: [{ token: 'other' }] },
    } as unknown as KubeObject
    const item = stored(whole)
    Object.defineProperty(item, 'object', { get: () => assert.fail('the object was decoded') })
    const { bytes } = new Masker(pathsOf(['spec.token', 'spec.list[*].token']), apiVersion).masked(item)
    assert.ok(!/s3cret|other|token/.test(bytes.toString()), bytes.toString())
    const same = stored(whole)
    assert.equal(new Masker(pathsOf(['status']), apiVersion).masked(same), same)
  })
})
