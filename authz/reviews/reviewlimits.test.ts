import assert from 'node:assert/strict'
import { checkReview, checkSubject } from './reviewspec.ts'

const reviewOf = (spec: object) => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  metadata: {},
  spec,
})
const required = { key: 'k', operator: 'In', values: ['v'] }
const selecting = (selector: 'labelSelector' | 'fieldSelector', requirements: readonly object[]) =>
  reviewOf({ resourceAttributes: { verb: 'list', resource: 'pods', [selector]: { requirements } } })

describe('the limits of access reviews', () => {
  it('are 10000 groups', () => {
    const groups = (count: number) => reviewOf({ groups: Array(count).fill('g') })
    assert.equal(checkSubject(groups(10_000)).groups.length, 10_000)
    const message = /spec.groups: Too many: 10001: must have at most 10000 items/
    assert.throws(() => checkSubject(groups(10_001)), { code: 422, message })
  })

  it('are 65536 characters of a selector', () => {
    const selecting = (rawSelector: string) =>
      reviewOf({ resourceAttributes: { verb: 'list', resource: 'pods', labelSelector: { rawSelector } } })
    checkReview(selecting('a=b,'.repeat(16_384)), '')
    assert.throws(() => checkReview(selecting('a=b,'.repeat(16_385)), ''), {
      code: 422,
      message: /labelSelector.rawSelector: Too long: may not be more than 65536 bytes/,
    })
  })

  it('are 10000 requirements of a selector, with 10000 values', () => {
    for (const selector of ['labelSelector', 'fieldSelector'] as const) {
      checkReview(selecting(selector, Array(10_000).fill(required)), '')
      assert.throws(() => checkReview(selecting(selector, Array(10_001).fill(required)), ''), {
        code: 422,
        message: new RegExp(`${selector}.requirements: Too many: 10001: must have at most 10000 items`),
      })
      const many = { ...required, values: Array(10_001).fill('v') }
      assert.throws(() => checkReview(selecting(selector, [many]), ''), {
        code: 422,
        message: /requirements\[\*\].values: Too many: 10001: must have at most 10000 items/,
      })
    }
  })
})
