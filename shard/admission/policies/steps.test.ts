import assert from 'node:assert/strict'
import type { ApiResource } from '../../../framework/contract/apis.ts'
import type { Item } from '../../../framework/contract/item.ts'
import type { KubeObject } from '../../../framework/meta/object.ts'
import { prepare } from '../webhooks/configuration.ts'
import { compilePolicy } from './policy.ts'
import { perItem } from './source.ts'
import { typeWarnings } from './typechecking.ts'

const times = <T>(count: number, make: (i: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => make(i))
const expressions = times(100, i => ({ name: `n${i}`, expression: `1 + 1 == ${i}` }))
const policyOf = (spec: object): KubeObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'p' },
  spec,
})

function stepsOf(work: Generator<void, unknown>): number {
  for (let steps = 0; ; steps++) if (work.next().done === true) return steps
}

describe('an admission policy is compiled in steps', () => {
  it('of one expression', () => {
    const messages = expressions.map(({ expression }) => ({ expression, messageExpression: '"no"' }))
    assert.ok(stepsOf(compilePolicy(policyOf({ validations: messages }))) >= 200)
    assert.ok(stepsOf(compilePolicy(policyOf({ variables: expressions }))) >= 300)
    const jsonPatch = { expression: '[JSONPatch{op: "remove", path: "/a"}]' }
    const mutations = times(100, () => ({ patchType: 'JSONPatch', jsonPatch }))
    assert.ok(stepsOf(compilePolicy(policyOf({ mutations }))) >= 100)
  })

  it('also when its types are checked', () => {
    const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }
    const policy = policyOf({ validations: expressions, matchConstraints: { resourceRules: [rule] } })
    const names = { plural: 'configmaps', kind: 'ConfigMap' }
    const served = { group: '', version: 'v1', names, openapi: { type: 'object' } } as unknown as ApiResource
    assert.ok(stepsOf(typeWarnings(policy, [served])) >= 100)
  })

  it('once for each of its versions, for all requests that need it', async () => {
    let count = 0
    const computed = perItem(function* () {
      yield
      return ++count
    })
    const item = { object: policyOf({}) } as Item
    assert.deepEqual(await Promise.all([computed(item), computed(item)]), [1, 1])
    assert.equal(computed(item), 1)
    assert.equal(await computed({ object: policyOf({}) } as Item), 2)
  })

  it('again after an error', async () => {
    let fails = true
    const computed = perItem(function* () {
      yield
      if (fails) throw new Error('not now')
      return 'compiled'
    })
    const item = { object: policyOf({}) } as Item
    await assert.rejects(async () => computed(item), /not now/)
    fails = false
    assert.equal(await computed(item), 'compiled')
  })
})

it('the webhooks of a configuration are prepared in steps', () => {
  const webhooks = times(100, i => ({ name: `w${i}.example.com`, matchConditions: expressions.slice(0, 1) }))
  assert.ok(stepsOf(prepare({ ...policyOf({}), webhooks })) >= 100)
})

it('the match conditions of one webhook are compiled in steps', () => {
  const webhooks = [{ name: 'w.example.com', matchConditions: expressions }]
  assert.ok(stepsOf(prepare({ ...policyOf({}), webhooks })) >= 300)
})
