import assert from 'node:assert/strict'
import { type Item, itemOf } from '../../framework/contract/item.ts'
import {
  compileQueryExpression,
  compileViewExpression,
  type ExpressionKind,
  type ExpressionResult,
  type ExpressionUse,
  prepareExpressions,
  requestAllowance,
  requestCostLimit,
  type ViewExpression,
} from './expression.ts'

const kind = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  openapi: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          color: { type: 'string' },
          size: { type: 'integer' },
          names: { type: 'array', items: { type: 'string' } },
          keys: { type: 'object', additionalProperties: { type: 'string' } },
        },
      },
    },
  },
}
const cluster = { name: 'one', path: 'root:one', labels: { tier: 'gold' }, annotations: {} }
const user = { name: 'ada', uid: '', groups: ['ops'], extra: {} }

const widget = (spec: object, labels?: Readonly<Record<string, string>>): Item =>
  itemOf(
    {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'a', namespace: 'default', ...(labels && { labels }) },
      spec,
    },
    'one',
  )

function compiled(source: string, use: ExpressionUse = 'bool'): ViewExpression {
  const expression = compileViewExpression(source, kind, use)
  assert.ok('reads' in expression, JSON.stringify(expression))
  return expression
}

const problemOf = (source: string, use: ExpressionUse = 'bool'): string => {
  const expression = compileViewExpression(source, kind, use)
  return 'problem' in expression ? expression.problem : ''
}

const evaluate = (source: string, item: Item, use: ExpressionUse = 'bool'): ExpressionResult =>
  compiled(source, use).evaluate({ item, cluster, user }, requestAllowance())

describe('expressions of Views', () => {
  for (const [source, value] of [
    ["object.spec.color == 'red'", true],
    ["object.metadata.name == 'a' && object.metadata.__namespace__ == 'default'", true],
    ["'team' in object.metadata.labels", false],
    ['has(object.metadata.labels) && object.metadata.annotations == {}', true],
    ["cluster.name == 'one' && cluster.path.startsWith('root:') && cluster.labels['tier'] == 'gold'", true],
    ["user.name == 'ada' && 'ops' in user.groups && size(user.extra) == 0", true],
    ['object.spec.size > 3', false],
  ] as const)
    it(`have the value ${value} for ${source}`, () =>
      assert.deepEqual(evaluate(source, widget({ color: 'red', size: 3 })), { value }))

  for (const [source, problem] of [
    ["object.spec.colour == 'red'", "line 1, column 12: undefined field 'colour'"],
    ['object.spec.size ==', 'line 1, column 20: Syntax error'],
    ['object.spec.size', 'must be of type bool, but is of type int'],
    ["cluster.label['a'] == 'b'", "undefined field 'label'"],
    ["now - object.metadata.creationTimestamp > duration('1h')", 'expressions cannot depend on the time'],
    ["object.metadata.namespace == 'a'", 'write __namespace__'],
    ["params.x == 'y'", "undeclared reference to 'params'"],
  ] as const)
    it(`are refused with the position: ${source}`, () =>
      assert.ok(problemOf(source).includes(problem), problemOf(source)))

  it('have their variables for a kind that is called like a variable, too', () => {
    for (const name of ['Cluster', 'User', 'Params']) {
      const source = "cluster.path != '' && user.name != '' && object.spec.color == params.color"
      const expression = compileViewExpression(
        source,
        { ...kind, kind: name, params: { color: 'red' } },
        'bool',
      )
      assert.ok('reads' in expression, JSON.stringify(expression))
      const subject = { item: widget({ color: 'red' }), cluster, user }
      assert.deepEqual(expression.evaluate(subject, requestAllowance()), { value: true })
    }
  })

  it('fail without values of the object in the reason', () => {
    const item = widget({ color: 'secret', keys: {} })
    assert.deepEqual(evaluate("object.spec.keys[object.spec.color] == 'x'", item), { failure: 'no such key' })
  })

  it('read the body only if they have to', () => {
    assert.deepEqual(compiled("object.metadata.labels['a'] == 'b'").reads, {
      body: false,
      cluster: false,
      user: false,
    })
    assert.equal(compiled('has(object.metadata.labels)').reads.body, true)
    assert.equal(
      compiled("object.metadata.creationTimestamp > timestamp('2020-01-01T00:00:00Z')").reads.body,
      true,
    )
    assert.equal(compiled('string(object.spec.size) == cluster.name').reads.cluster, true)
    const item: Item = {
      ...widget({}, { a: 'b' }),
      meta: widget({}, { a: 'b' }).meta,
      key: { cluster: 'one', namespace: 'default', name: 'a' },
      bytes: Buffer.alloc(0),
      get object(): never {
        throw new Error('the body was decoded')
      },
    }
    assert.deepEqual(evaluate("object.metadata.labels['a'] == 'b'", item), { value: true })
  })

  it('have a limit of cost, for each object and for each request', () => {
    const names = Array.from({ length: 200 }, (_, i) => `name-${i}`)
    const source = 'object.spec.names.all(a, object.spec.names.all(b, a != b || a == b))'
    assert.deepEqual(evaluate(source, widget({ names })), { failure: 'cost limit exceeded' })
    const allowance = { ...requestAllowance(), left: 50 }
    const item = widget({ names: names.slice(0, 10) })
    const first = compiled(source).evaluate({ item, cluster, user }, allowance)
    assert.ok('isOverBudget' in first && allowance.left <= 0)
    assert.deepEqual(evaluate(source, item), { value: true })
  })

  it('have a limit of work beside the cost, for each request', () => {
    const allowance = { ...requestAllowance(), effort: 500 }
    const source = 'object.spec.names.all(name, true)'
    const subjects = Array.from({ length: 20 }, () => ({
      item: widget({ names: Array.from({ length: 100 }, (_, i) => `name-${i}`) }),
      cluster,
      user,
    }))
    const results = subjects.map(subject => compiled(source).evaluate(subject, allowance))
    assert.deepEqual(results[0], { value: true })
    assert.ok('isOverBudget' in (results.at(-1) ?? {}), JSON.stringify([results.at(-1), allowance]))
  })

  const longWork = [
    'object.spec.names.distinct().size() > 0',
    "object.spec.names.all(name, object.spec.names.max() != '')",
    "object.spec.names.all(name, object.spec.names.indexOf('0') == 0)",
    "object.spec.names.all(name, object.spec.names.slice(0, 1) == ['0'])",
    'sets.equivalent(object.spec.names, object.spec.names)',
  ]
  for (const source of longWork)
    it(`have a limit of work beside the cost, for each object: ${source}`, () => {
      const names = Array.from({ length: 90_000 }, (_, i) => String(i))
      assert.deepEqual(evaluate(source, widget({ names })), { failure: 'cost limit exceeded' })
    })

  it('have a cost for the decoding of large objects, in queries', () => {
    const expression = compileQueryExpression("object.spec.color == 'red'", kind, 'bool')
    assert.ok('reads' in expression)
    const allowance = requestAllowance()
    expression.evaluate({ item: widget({ color: 'x'.repeat(1_600_000) }), cluster, user }, allowance)
    assert.ok(requestCostLimit - allowance.left >= 100_000, String(allowance.left))
  })

  it('are evaluated once for an object, whatever View has them', () => {
    const item = widget({ color: 'red' })
    const allowance = requestAllowance()
    const source = "object.spec.color == 'red'"
    for (let i = 0; i < 3; i++) compiled(source).evaluate({ item, cluster, user }, allowance)
    const once = requestCostLimit - allowance.left
    compiled(source).evaluate({ item: widget({ color: 'red' }), cluster, user }, allowance)
    assert.equal(requestCostLimit - allowance.left, 2 * once)
  })

  it('are evaluated again for another user, and for changed labels of the workspace', () => {
    const item = widget({})
    const allowance = requestAllowance()
    const byUser = compiled("user.name == 'ada'")
    assert.deepEqual(byUser.evaluate({ item, cluster, user }, allowance), { value: true })
    assert.deepEqual(byUser.evaluate({ item, cluster, user: { ...user, name: 'bob' } }, allowance), {
      value: false,
    })
    const byCluster = compiled("cluster.labels['tier'] == 'gold'")
    assert.deepEqual(byCluster.evaluate({ item, cluster, user }, allowance), { value: true })
    const silver = { ...cluster, labels: { tier: 'silver' } }
    assert.deepEqual(byCluster.evaluate({ item, cluster: silver, user }, allowance), { value: false })
  })
})

describe('the expressions about a large schema', () => {
  const names = Array.from({ length: 20_000 }, (_, i) => [`p${i}`, { type: 'string' }])
  const largeKind = (name: string) => ({
    ...kind,
    kind: name,
    openapi: {
      type: 'object',
      properties: { spec: { type: 'object', properties: Object.fromEntries(names) } },
    },
  })
  const steps = (about: ExpressionKind): number => [...prepareExpressions(about)].length

  it('are prepared in steps, once for each kind and content', () => {
    const large = largeKind('Large')
    const first = steps(large)
    assert.ok(first > 100)
    assert.equal(steps(large), 0)
    // The hash of an equal schema is computed.
    assert.ok(steps(largeKind('Large')) < first - 50)
    const expression = compileQueryExpression("object.spec.p7 == ''", large, 'bool', requestAllowance())
    assert.ok(!('problem' in expression))
  })

  it('keep the types of the schemas that were used last', () => {
    const [first, ...others] = Array.from({ length: 20 }, (_, i) => largeKind(`Large${i}`))
    assert.ok(first !== undefined)
    for (const large of [first, ...others]) steps(large)
    assert.ok(steps(first) > 50)
  })
})
