import assert from 'node:assert/strict'
import { type CompiledExpression, compileExpression } from '../../../cel/compiled.ts'
import { Paused, Replays } from '../../../cel/planner/replay.ts'
import { boolType } from '../../../cel/values/type.ts'
import { inOneVersion } from '../../../framework/contract/admission.ts'
import { silent } from '../../../framework/contract/log.ts'
import { loopbackContext } from '../../../framework/contract/loopback.ts'
import { atOnce } from '../../../framework/json/json.ts'
import {
  admissionEnvironment,
  namespaceDeclaration,
  requestDeclaration,
} from '../../../openapi/expressions/admission.ts'
import {
  asVariable,
  conditionsHold,
  evaluated,
  newAllowance,
  requestOf,
  type Variables,
  withPolicyVariables,
} from './evaluation.ts'
import { compilePolicy, type Policy } from './policy.ts'

describe('requestOf', () => {
  it('has the versions of the rule and of the request', () => {
    const group = 'example.com'
    const signal = new AbortController().signal
    const resource = { group, version: 'v1', resource: 'widgets' }
    const ctx = loopbackContext({ verb: 'create', resource, cluster: 'c1', signal, log: silent })
    const object = { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'a' } }
    const {
      kind,
      requestKind,
      resource: seen,
      requestResource,
    } = requestOf({
      ctx,
      user: ctx.actAs,
      namespaceOf: () => undefined,
      version: 'v2',
      request: {
        operation: 'CREATE',
        group,
        resource: 'widgets',
        ...inOneVersion('v1'),
        subresource: '',
        key: { cluster: 'c1', namespace: '', name: 'a' },
        dryRun: false,
        object,
      },
    })
    assert.deepEqual(kind, { group, version: 'v2', kind: 'Widget' })
    assert.deepEqual(requestKind, { group, version: 'v1', kind: 'Widget' })
    assert.deepEqual(seen, { group, version: 'v2', resource: 'widgets' })
    assert.deepEqual(requestResource, { group, version: 'v1', resource: 'widgets' })
  })
})

describe('namespace, a reserved word in the schemas of definitions', () => {
  it('is a field of the request and of the metadata of namespaceObject', () => {
    const environment = admissionEnvironment({ params: false, variables: new Map() })
    const variables: Variables = {
      request: requestDeclaration.adapt({ namespace: 'team-a', operation: 'CREATE' }),
      namespaceObject: namespaceDeclaration.adapt({ metadata: { name: 'team-a' } }),
    }
    const expressions = [
      'request.namespace == "team-a" && has(request.namespace)',
      '!has(namespaceObject.metadata.namespace) && namespaceObject.metadata.name == request.namespace',
    ]
    for (const source of expressions) {
      const expression = atOnce(compileExpression(source, environment))
      assert.deepEqual(evaluated(expression, variables, newAllowance(new Replays())), { value: true })
    }
  })
})

describe('a long expression of a policy', () => {
  const environment = admissionEnvironment({ params: false, variables: new Map([['own', boolType]]) })
  const long = 'object.data.all(k, object.data.exists(l, l == k))'
  const [expression, reading, short] = [long, 'variables.own', 'object.data.size() > 0'].map(source =>
    atOnce(compileExpression(source, environment)),
  ) as [CompiledExpression, CompiledExpression, CompiledExpression]
  const keys = Array.from({ length: 400 }, (_, i) => [`k${i}`, ''])
  const metadata = { name: 'a' }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: Object.fromEntries(keys) }
  const variables: Variables = { object: asVariable(object) }

  /** The result, and how often the evaluation was interrupted. */
  function interrupted<T>(evaluate: (replays: Replays) => T): { result: T; pauses: number } {
    const replays = new Replays()
    for (let pauses = 0; ; pauses++)
      try {
        return { result: evaluate(replays), pauses }
      } catch (error) {
        if (!(error instanceof Paused)) throw error
      }
  }

  it('is interrupted', () => {
    const { result, pauses } = interrupted(replays => evaluated(expression, variables, newAllowance(replays)))
    assert.deepEqual(result, { value: true })
    assert.ok(pauses >= 10, `${pauses} pauses`)
  })

  it('is interrupted as a variable of a policy', () => {
    const policy = { variables: new Map([['own', expression]]) } as unknown as Policy
    const { result, pauses } = interrupted(replays => {
      const allowance = newAllowance(replays)
      return evaluated(reading, withPolicyVariables(policy, variables, allowance), allowance)
    })
    assert.deepEqual(result, { value: true })
    assert.ok(pauses >= 10, `${pauses} pauses`)
  })

  it('is interrupted as one of several conditions', () => {
    const conditions = [short, expression, expression, short]
    const { result, pauses } = interrupted(replays => conditionsHold(conditions, variables, replays))
    assert.deepEqual(result, { holds: true })
    assert.ok(pauses >= 10, `${pauses} pauses`)
  })

  it('may be at the end of a long chain of variables, which is interrupted', () => {
    const chain = Array.from({ length: 5_000 }, (_, i) => ({
      name: `v${i}`,
      expression: i === 0 ? '1' : `variables.v${i - 1} + 1`,
    }))
    const spec = { variables: chain, validations: [{ expression: 'variables.v4999 == 5000' }] }
    const policy = atOnce(compilePolicy({ apiVersion: 'v1', kind: 'Policy', metadata: {}, spec }))
    const allowance = newAllowance(new Replays())
    const all = withPolicyVariables(policy, variables, allowance)
    const last = policy.validations[0]?.expression as CompiledExpression
    const { result, pauses } = interrupted(() => evaluated(last, all, allowance))
    assert.deepEqual(result, { value: true })
    assert.ok(pauses >= 10, `${pauses} pauses`)
  })

  it('is not interrupted when it is short', () => {
    const { pauses } = interrupted(replays => evaluated(short, variables, newAllowance(replays)))
    assert.equal(pauses, 0)
  })
})
