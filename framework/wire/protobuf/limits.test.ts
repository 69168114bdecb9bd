import assert from 'node:assert/strict'
import { atOnce } from '../../json/json.ts'
import { protobufSteps, TooManyValues } from './parse.ts'
import { object, type Part } from './testing/message.ts'

const parseProtobuf = (bytes: Buffer): unknown => atOnce(protobufSteps(bytes))

describe('the limits of protobuf', () => {
  const withOwners = (json: string): Buffer =>
    object('v1', 'ConfigMap', [
      [
        1,
        [
          [1, 'x'],
          [17, [[7, [[1, json]]]]],
        ],
      ],
    ])
  const stepsFor = (bytes: Buffer, values: number): number => {
    let count = 0
    const steps = protobufSteps(bytes, { values, members: values })
    while (!steps.next().done) count++
    return count
  }

  it('reads embedded JSON in steps, and counts its values', () => {
    const fields = Array.from({ length: 20_000 }, (_, i) => `"f:${i}":{}`)
    const bytes = withOwners(`{${fields.join(',')}}`)
    assert.ok(stepsFor(bytes, 100_000) > 20)
    assert.throws(() => stepsFor(bytes, 10_000), TooManyValues)
  })

  it('refuses embedded JSON that is too deep before it is read', () => {
    const depth = 100_000
    assert.throws(() => parseProtobuf(withOwners('['.repeat(depth) + ']'.repeat(depth))), SyntaxError)
    assert.throws(() => parseProtobuf(withOwners('{')), SyntaxError)
  })

  it('refuses a value or an entry whose fields are repeated thousands of times', () => {
    const many: readonly Part[] = Array.from({ length: 2_000 }, () => [9, 'a'])
    for (const field of [8, 11, 17])
      assert.throws(
        () => parseProtobuf(object('v1', 'ConfigMap', [[1, [[field, field === 17 ? [[7, many]] : many]]]])),
        /too many fields/,
      )
  })

  it('counts the texts of a list', () => {
    const texts: readonly Part[] = Array.from({ length: 5_000 }, () => [1, ''])
    const review = object('authorization.k8s.io/v1', 'SubjectAccessReview', [
      [
        2,
        [
          [
            5,
            [
              [1, 'key'],
              [2, texts],
            ],
          ],
        ],
      ],
    ])
    assert.ok(stepsFor(review, 10_000) >= 5)
    assert.throws(() => stepsFor(review, 1_000), TooManyValues)
  })
})
