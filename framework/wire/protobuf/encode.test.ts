import assert from 'node:assert/strict'
import fc from 'fast-check'
import { atOnce } from '../../json/json.ts'
import { encodeMessage, encodingSteps, enveloped } from './encode.ts'
import { kindFields } from './fields.ts'
import { messages } from './kinds.ts'
import { protobufSteps } from './parse.ts'

const parseProtobuf = (bytes: Buffer): unknown => atOnce(protobufSteps(bytes))

interface Sample {
  readonly apiVersion: string
  readonly kind: string
}

function encode(object: Sample): Buffer {
  const fields = kindFields(object.apiVersion.split('/')[0] ?? '', object.kind)
  assert.ok(fields)
  return enveloped(object, encodeMessage(fields, { ...object }))
}

const metadata = { name: 'a', labels: { a: '1', b: '2' }, creationTimestamp: '2026-01-02T03:04:05Z' }
const rule = { apiGroups: ['apps'], apiVersions: ['*'], resources: ['*'], operations: ['CREATE'], scope: '*' }

/** Go's own bytes are compared in test/clients. */
describe('encodeMessage', () => {
  const samples: readonly Sample[] = [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { x: '' },
      binaryData: { b: 'AP8=' },
      immutable: false,
    } as Sample,
    {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata,
      spec: { leaseDurationSeconds: 0, renewTime: '2026-01-02T03:04:05.000006Z', leaseTransitions: -1 },
    } as Sample,
    {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'a' },
      note: 'n',
      regarding: { name: 'x' },
    } as Sample,
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicy',
      metadata: { name: 'a' },
      spec: {
        matchConstraints: { matchPolicy: 'Exact', resourceRules: [{ ...rule, resourceNames: ['n'] }] },
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[]' } }],
        reinvocationPolicy: 'Never',
      },
    } as Sample,
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'a' },
      spec: {
        group: 'example.com',
        names: { plural: 'as', kind: 'A' },
        scope: 'Cluster',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: false,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                default: { a: [1, null] },
                minimum: 0.5,
                items: { type: 'string' },
                additionalProperties: true,
                properties: { x: { additionalProperties: { type: 'string' }, enum: ['a', 2] } },
                'x-kubernetes-validations': [{ rule: 'true', optionalOldSelf: false }],
              },
            },
          },
        ],
      },
    } as Sample,
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
      metadata: { name: 'a' },
      status: { userInfo: { username: 'u', groups: ['g'], extra: { k: ['v', 'w'] } } },
    } as Sample,
  ]
  for (const sample of samples) {
    it(`writes messages that can be parsed: ${sample.kind}`, () => {
      assert.deepEqual(parseProtobuf(encode(sample)), sample)
    })

    it(`writes the same bytes in steps: ${sample.kind}`, () => {
      const fields = kindFields(sample.apiVersion.split('/')[0] ?? '', sample.kind) ?? new Map()
      assert.deepEqual(atOnce(encodingSteps(fields, { ...sample })), encodeMessage(fields, { ...sample }))
    })
  }

  const large = {
    ...(samples[0] as Sample),
    metadata: { ...metadata, finalizers: Array.from({ length: 5_000 }, (_, i) => `example.com/f${i}`) },
    data: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, 'v'])),
  }

  function stepsOf<T>(steps: Generator<void, T>): { readonly count: number; readonly result: T } {
    for (let count = 0; ; count++) {
      const step = steps.next()
      if (step.done) return { count, result: step.value }
    }
  }

  it('writes and reads a large message in many steps', () => {
    const fields = kindFields('', 'ConfigMap') ?? new Map()
    const written = stepsOf(encodingSteps(fields, large))
    assert.deepEqual(written.result, encodeMessage(fields, large))
    assert.ok(written.count > written.result.length / 10_000, `${written.count} steps`)
    const read = stepsOf(protobufSteps(encode(large)))
    assert.deepEqual(read.result, large)
    assert.ok(read.count > written.result.length / 10_000, `${read.count} steps`)
  })

  it('writes zeros that are no pointers, and keys in order, as Go does', () => {
    const bytes = encode({ apiVersion: 'v1', kind: 'ConfigMap', data: { b: '2', a: '' } } as Sample)
    const type = '0a0f0a0276311209436f6e6669674d6170'
    const metadataBytes = '0a10' + '0a00' + '1200' + '1a00' + '2200' + '2a00' + '3200' + '3800' + '4200'
    const data = '1205' + '0a0161' + '1200' + '1206' + '0a0162' + '120132'
    const raw = metadataBytes + data
    assert.equal(bytes.toString('hex'), `6b387300${type}12${(raw.length / 2).toString(16)}${raw}1a002200`)
  })

  it('names only messages that there are', () => {
    const plain = ['text', 'bytes', 'raw', 'int', 'bool', 'double', 'Time', 'MicroTime', 'Json', 'Quantity']
    const known = new Set([...plain, 'TextList', 'SchemaOrArray', 'SchemaOrBool', ...Object.keys(messages)])
    for (const [name, text] of Object.entries(messages))
      for (const [, type = 'text'] of text.matchAll(/:\{?(\w+)/g))
        assert.ok(known.has(type), `${name}: ${type}`)
  })

  it('writes any strings and numbers so that they can be parsed', () => {
    const event = fc.record({
      reason: fc.string({ minLength: 1 }),
      message: fc.string({ minLength: 1, unit: 'binary' }),
      count: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    })
    fc.assert(
      fc.property(event, fields => {
        const read = parseProtobuf(encode({ apiVersion: 'v1', kind: 'Event', ...fields } as Sample))
        const { reason, message, count } = read as typeof fields
        assert.deepEqual({ reason, message, count }, { ...fields })
      }),
    )
  })
})
