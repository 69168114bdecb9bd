import assert from 'node:assert/strict'
import type { KubeObject } from '../../framework/index.ts'
import { discard, eventually } from '../support/oriel.ts'
import { masters, type People, startWithPeople } from '../support/people.ts'
import { apply, createWorkspaces, rolesFor, type Tenant } from '../support/tenants.ts'
import { repeatDuring } from '../support/time/during.ts'

const group = 'lists.example.com'
const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
const text = { type: 'string' }
const list = { type: 'array', items: text }
const openAPIV3Schema = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { l: list } } },
}

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `longs.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural: 'longs', singular: 'long', kind: 'Long', listKind: 'LongList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
  },
}

const long = (name: string): object => ({
  apiVersion: `${group}/v1`,
  kind: 'Long',
  metadata: { name },
  spec: { l: Array.from({ length: 90_000 }, (_, i) => String(i)) },
})

/** Expressions of much work for a list of 90,000 texts, each of which would hold the server for seconds or minutes without its limit. */
const expressions = [
  'object.spec.l.distinct().size() > 0',
  "object.spec.l.all(x, object.spec.l.max() != '')",
  "object.spec.l.all(x, object.spec.l.indexOf('0') == 0)",
  "object.spec.l.all(x, object.spec.l.slice(0, 1) == ['0'])",
  'sets.equivalent(object.spec.l, object.spec.l)',
]

const view = (name: string, where: string): object => ({
  apiVersion: 'views.oriel.dev/v1alpha1',
  kind: 'View',
  metadata: { name },
  spec: {
    source: { cluster: '.' },
    resources: [{ group, resource: 'longs', verbs: ['get', 'list', 'watch'], where }],
  },
})

const policies = (name: string, expression: string): readonly KubeObject[] => {
  const admission = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name } }
  const rule = { apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE'], resources: ['longs'] }
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression }] }
  const binding = { policyName: name, validationActions: ['Deny'] }
  return [
    { ...admission, kind: 'ValidatingAdmissionPolicy', spec },
    { ...admission, kind: 'ValidatingAdmissionPolicyBinding', spec: binding },
  ]
}

describe('a user whose expressions ask for much work', function () {
  this.timeout(180_000)
  let people: People
  let attacker: Tenant

  before(async () => {
    people = await startWithPeople()
    const tenants = await createWorkspaces(people.oriel, ['attacker', 'victim'])
    attacker = tenants[0] as Tenant
    for (const [i, { kubectl }] of tenants.entries())
      await apply(kubectl, ...rolesFor(`user-${i + 1}`, everything))
    await apply(attacker.kubectl, definition)
    for (const name of ['a', 'b'])
      await eventually(
        () => people.post('user-1', longs(), long(name)),
        ({ status }) => status === 201,
      )
  })
  after(() => discard(people.oriel))

  const longs = (): string => `/clusters/${attacker.cluster}/apis/${group}/v1/longs`
  const victim = () => people.as('user-2')('/clusters/root:victim/api/v1/namespaces/default/configmaps')

  /** The number of parts of requests that blocked the event loop for more than two and a half seconds. */
  async function longHolds(): Promise<number> {
    const { body } = await people.as(masters)('/metrics')
    const count = (pattern: RegExp): number =>
      [...body.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0)
    const all = count(/^oriel_request_event_loop_hold_seconds_count\{.*\} (\d+)$/gm)
    return all - count(/^oriel_request_event_loop_hold_seconds_bucket\{.*le="2.5".*\} (\d+)$/gm)
  }
  afterEach(async () => assert.equal(await longHolds(), 0))

  /** The statuses of another user's requests until the work is done. */
  async function answered(work: Promise<unknown>): Promise<readonly number[]> {
    const statuses = new Set<number>()
    await repeatDuring(work, async () => statuses.add((await victim()).status))
    return [...statuses]
  }

  for (const where of expressions)
    it(`in a query leaves turns to others: ${where}`, async () => {
      const path = `/services/query/clusters/${attacker.cluster}/apis/${group}/v1/longs`
      const query = people.as('user-1')(`${path}?where=${encodeURIComponent(where)}`)
      assert.deepEqual(await answered(query), [200])
      const { status, json } = await query
      assert.deepEqual([status, json().items], [200, []])
    })

  it('in many Views of the same objects leaves turns to others', async () => {
    const read = async (where: string, i: number): Promise<void> => {
      const made = await people.post(
        'user-1',
        `/clusters/${attacker.cluster}/apis/views.oriel.dev/v1alpha1/views`,
        view(`v-${i}`, where),
      )
      assert.equal(made.status, 201, made.body.slice(0, 500))
      const path = `/services/views/${attacker.cluster}/v-${i}/clusters/*/apis/${group}/v1/longs`
      const { json } = await eventually(
        () => people.as('user-1')(path),
        ({ status }) => status === 200,
      )
      assert.deepEqual(json().items, [])
    }
    const all = Array.from({ length: 20 }, (_, i) => {
      const where = expressions[i % expressions.length] ?? ''
      return read(`${where} || object.metadata.name == 'none-${i}'`, i)
    })
    assert.deepEqual(await answered(Promise.all(all)), [200])
  })

  it('in an admission policy leaves turns to others', async () => {
    await apply(attacker.kubectl, ...expressions.flatMap((each, i) => policies(`p-${i}`, each)))
    const writing = eventually(
      () => people.post('user-1', longs(), long('refused')),
      ({ status }) => status !== 201,
    )
    assert.deepEqual(await answered(writing), [200])
    const { status, json } = await writing
    assert.equal(status, 422)
    assert.match(json().message ?? '', /cost limit exceeded/)
  })
})
