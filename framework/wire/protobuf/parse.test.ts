import assert from 'node:assert/strict'
import fc from 'fast-check'
import { atOnce } from '../../json/json.ts'
import { protobufSteps } from './parse.ts'
import { encode, object, type Part } from './testing/message.ts'

const parseProtobuf = (bytes: Buffer): unknown => atOnce(protobufSteps(bytes))

describe('parseProtobuf', () => {
  it('reads texts, maps, bytes and pointers; drops zeros that were written', () => {
    const metadata: Part = [
      1,
      [
        [1, 'x'],
        [2, ''],
        [3, 'ns'],
        [5, ''],
        [7, 0],
        [8, []],
        [
          11,
          [
            [1, 'a'],
            [2, 'b'],
          ],
        ],
        [11, [[1, 'c']]],
      ],
    ]
    const secret = object('v1', 'Secret', [
      metadata,
      [
        2,
        [
          [1, 'k'],
          [2, Buffer.from([0, 255])],
        ],
      ],
      [3, 'Opaque'],
      [5, false],
    ])
    assert.deepEqual(parseProtobuf(secret), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'x', namespace: 'ns', labels: { a: 'b', c: '' } },
      data: { k: 'AP8=' },
      type: 'Opaque',
      immutable: false,
    })
  })

  it('reads lists in order, and the same kind name in two groups', () => {
    const rules: Part[] = [
      [
        2,
        [
          [1, 'get'],
          [1, 'list'],
          [2, ''],
          [3, 'pods'],
        ],
      ],
      [
        2,
        [
          [1, '*'],
          [5, '/'],
        ],
      ],
    ]
    assert.deepEqual(parseProtobuf(object('rbac.authorization.k8s.io/v1', 'ClusterRole', rules)), {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      rules: [
        { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
        { verbs: ['*'], nonResourceURLs: ['/'] },
      ],
    })
    const note = (value: unknown) => (value as { note?: string; message?: string }).note
    assert.equal(note(parseProtobuf(object('events.k8s.io/v1', 'Event', [[10, 'n']]))), 'n')
    assert.equal(note(parseProtobuf(object('v1', 'Event', [[4, 'm']]))), undefined)
  })

  it('reads times, in microseconds where the kind has them, and negative integers', () => {
    const seconds = Date.UTC(2026, 10, 21, 8, 0, 0) / 1000
    const spec: Part[] = [
      [2, -5],
      [
        3,
        [
          [1, seconds],
          [2, 123456789],
        ],
      ],
    ]
    assert.deepEqual(
      parseProtobuf(
        object('coordination.k8s.io/v1', 'Lease', [
          [1, [[8, [[1, seconds]]]]],
          [2, spec],
        ]),
      ),
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { creationTimestamp: '2026-11-21T08:00:00Z' },
        spec: { leaseDurationSeconds: -5, acquireTime: '2026-11-21T08:00:00.123456Z' },
      },
    )
  })

  it('reads schemas with their unions, and booleans that JSON always has', () => {
    const schema: Part[] = [
      [5, 'object'],
      [9, Buffer.from(new Float64Array([1.5]).buffer)],
      [
        29,
        [
          [1, 'a'],
          [
            2,
            [
              [8, [[1, '{"x":[1]}']]],
              [20, [[1, '"e"']]],
            ],
          ],
        ],
      ],
      [
        30,
        [
          [1, true],
          [2, [[5, 'string']]],
        ],
      ],
      [33, [[1, false]]],
      [24, [[1, [[5, 'integer']]]]],
    ]
    const version: Part = [
      7,
      [
        [1, 'v1'],
        [2, true],
        [4, [[1, schema]]],
      ],
    ]
    const crd = parseProtobuf(object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', [[2, [version]]]))
    assert.deepEqual(crd, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      spec: {
        versions: [
          {
            name: 'v1',
            served: true,
            storage: false,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                maximum: 1.5,
                properties: { a: { default: { x: [1] }, enum: ['e'] } },
                additionalProperties: { type: 'string' },
                additionalItems: false,
                items: { type: 'integer' },
              },
            },
          },
        ],
      },
    })
  })

  it('reads DeleteOptions and the extra of a review', () => {
    assert.deepEqual(
      parseProtobuf(
        object('v1', 'DeleteOptions', [
          [1, 0],
          [2, [[1, 'u']]],
          [4, 'Orphan'],
        ]),
      ),
      {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        gracePeriodSeconds: 0,
        preconditions: { uid: 'u' },
        propagationPolicy: 'Orphan',
      },
    )
    const spec: Part = [
      2,
      [
        [3, 'bob'],
        [
          5,
          [
            [1, 'k'],
            [
              2,
              [
                [1, 'v'],
                [1, 'w'],
              ],
            ],
          ],
        ],
      ],
    ]
    const review = parseProtobuf(object('authorization.k8s.io/v1', 'SubjectAccessReview', [spec]))
    assert.deepEqual((review as { spec: unknown }).spec, { user: 'bob', extra: { k: ['v', 'w'] } })
  })

  it('refuses other bytes, truncated messages and unknown kinds', () => {
    const whole = object('v1', 'ConfigMap', [[1, [[1, 'x']]]])
    for (const [bytes, message] of [
      [Buffer.from('{}'), /does not appear to be a protobuf message/],
      [whole.subarray(0, 12), /unexpected EOF/],
      [object('example.com/v1', 'Widget', []), /no kind "Widget" is known/],
      [object('v1', '__proto__', []), /no kind "__proto__"/],
      [object('', '', []), /no kind "" is known/],
    ] as const)
      assert.throws(() => parseProtobuf(bytes), { name: 'SyntaxError', message })
  })

  it('keeps the last one of repeated keys and values of an entry, and of repeated entries', () => {
    const entry = (...parts: string[]): Part => [2, parts.map((part, i): Part => [1 + (i % 2), part])]
    const entries = [entry('a', '1', 'b', '2'), entry('c', '3'), entry('c', '4')]
    const { data } = parseProtobuf(object('v1', 'ConfigMap', entries)) as { data: object }
    assert.deepEqual(data, { b: '2', c: '4' })
  })

  it('skips unknown fields', () => {
    const metadata = [[1, 'x'] as Part, [99, 'y'] as Part]
    const odd = [[1, metadata] as Part, [77, 5] as Part, [78, [[1, 'z']]] as Part]
    assert.deepEqual(parseProtobuf(object('v1', 'ConfigMap', odd)), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'x' },
    })
  })

  it('throws nothing but SyntaxError, whatever the bytes', () => {
    const kinds = fc.constantFrom('ConfigMap', 'CustomResourceDefinition', 'Lease', 'SubjectAccessReview')
    fc.assert(
      fc.property(kinds, fc.uint8Array({ maxLength: 200 }), (kind, raw) => {
        const bytes = Buffer.concat([
          Buffer.from('k8s\0'),
          encode([
            [
              1,
              [
                [1, 'v1'],
                [2, kind],
              ],
            ],
            [2, Buffer.from(raw)],
          ]),
        ])
        try {
          parseProtobuf(bytes)
        } catch (error) {
          assert.ok(error instanceof SyntaxError, String(error))
        }
      }),
      { numRuns: 2000 },
    )
  })
})
