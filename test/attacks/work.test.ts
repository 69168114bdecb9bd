import assert from 'node:assert/strict'
import { discard } from '../support/oriel.ts'
import { masters, type People, startWithPeople, type Told } from '../support/people.ts'
import { repeatDuring } from '../support/time/during.ts'

const base = '/clusters/root'
const configMaps = `${base}/api/v1/namespaces/default/configmaps`
const group = 'attacks.example.com'
const bombs = `${base}/apis/${group}/v1/bombs`

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
const members = (count: number): Record<string, string> =>
  Object.fromEntries(times(count, i => [`k${i}`, '']))

/** Keys that the engine lists in the order of their numbers. */
const sparse = (count: number): Record<string, string> =>
  Object.fromEntries(times(count, i => [String((i * 320_743_257) % 4_294_967_291), '']))

/** A CustomResourceDefinition whose items have this default. */
const definition = (fallback?: object): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `bombs.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural: 'bombs', singular: 'bomb', kind: 'Bomb', listKind: 'BombList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schemaOf(fallback) } }],
  },
})

function schemaOf(fallback: object | undefined): object {
  const any = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const m = fallback === undefined ? any : { ...any, default: fallback }
  const items = { type: 'object', properties: { m } }
  const spec = { type: 'object', properties: { l: { type: 'array', items } } }
  return { type: 'object', properties: { spec } }
}

const bomb = (name: string, items: number): object => ({
  apiVersion: `${group}/v1`,
  kind: 'Bomb',
  metadata: { name },
  spec: { l: times(items, () => ({})) },
})

describe('a small request that asks for much work', function () {
  this.timeout(180_000)
  let people: People
  before(async () => {
    people = await startWithPeople()
  })
  after(() => discard(people.oriel))

  const ask = (path: string, wanted = {}): Promise<Told> => people.as(masters)(path, wanted)
  const send = (path: string, body: object | string, type = 'application/json', method = 'POST') =>
    ask(path, {
      method,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': type },
    })

  /** The number of parts of requests that blocked the event loop for more than a second, and their longest sum. */
  async function longHolds(): Promise<number> {
    const { body } = await ask('/metrics')
    const count = (pattern: RegExp): number =>
      [...body.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0)
    const all = count(/^oriel_request_event_loop_hold_seconds_count\{.*\} (\d+)$/gm)
    return all - count(/^oriel_request_event_loop_hold_seconds_bucket\{.*le="10".*\} (\d+)$/gm)
  }
  afterEach(async () =>
    assert.equal(await longHolds(), 0, 'requests that blocked the server for ten seconds'),
  )

  describe('with defaults', () => {
    const crds = `${base}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`
    const patched = (fallback: object) =>
      send(`${crds}/bombs.${group}`, { spec: { versions: definitionVersions(fallback) } }, merge, 'PATCH')
    const merge = 'application/merge-patch+json'
    const definitionVersions = (fallback: object) =>
      (definition(fallback) as { spec: { versions: unknown } }).spec.versions

    before(async () => {
      const { status, body } = await send(crds, definition())
      assert.equal(status, 201, body)
      for (;;) {
        const created = await send(bombs, bomb('stored', 200))
        if (created.status === 201) break
        assert.equal(created.status, 404, created.body)
      }
      const changed = await patched(members(20_000))
      assert.equal(changed.status, 200, changed.body)
    })

    it('is refused, with the name of the field', async () => {
      for (;;) {
        const { status, json, body } = await send(`${bombs}?dryRun=All`, bomb('a', 800))
        if (status === 201) continue
        assert.equal(status, 413, body)
        assert.match(String(json().message), /defaults .* more than 100000 values .*: spec\.l\[\d+\]\.m$/)
        break
      }
    })

    it('leaves a stored object readable, alone and in a list', async () => {
      const { status, json } = await ask(`${bombs}/stored`)
      assert.equal(status, 200)
      const { spec } = json<{ spec: { l: { m?: object }[] } }>()
      assert.equal(spec.l.length, 200)
      assert.ok(spec.l.filter(({ m }) => m !== undefined).length <= 5)
      assert.equal((await ask(bombs)).status, 200)
    })

    it('is refused as a schema', async () => {
      const nested = times(60, () => ({ m: members(2_000) }))
      const versions = definitionVersions({ l: nested })
      const { status, body } = await send(`${crds}/bombs.${group}`, { spec: { versions } }, merge, 'PATCH')
      assert.equal(status, 422, body.slice(0, 500))
      assert.match(body, /must not add more than 100000 values/)
    })
  })

  it('in YAML is refused, while others are answered', async () => {
    for (const text of [`a: [${'1,'.repeat(1_400_000)}1]`, '#\n'.repeat(1_400_000)]) {
      const refused = send(configMaps, text, 'application/yaml')
      const answered = await repeatDuring(refused, async () =>
        assert.equal((await ask('/livez')).status, 200),
      )
      const { status, json } = await refused
      assert.equal(status, 413)
      assert.match(String(json().message), /limit of YAML is \d+ (tokens|seconds)/)
      assert.ok(answered > 1, `${answered} other requests`)
    }
  })

  it('in YAML of usual length is accepted', async () => {
    const lines = times(5_000, i => `  k${i}: "v${i}"\n`).join('')
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n${lines}`
    const { status, body } = await send(configMaps, text, 'application/yaml')
    assert.equal(status, 201, body.slice(0, 500))
  })

  it('with thousands of terms in a selector is a list like any other', async () => {
    const terms = times(1_500, i => `!k${i}`).join(',')
    const { status, json } = await ask(`${configMaps}?labelSelector=${encodeURIComponent(terms)}&limit=1`)
    assert.equal(status, 200)
    assert.equal(json().items?.length, 1)
  })

  it('in JSON has a limit of values, and is refused above it while others are answered', async () => {
    for (const value of ['{}', '"abc"']) {
      const text = `{"apiVersion":"v1","kind":"ConfigMap","data":[${`${value},`.repeat(400_000)}${value}]}`
      const { status, json } = await send(configMaps, text)
      assert.equal(status, 413)
      assert.match(String(json().message), /limit of JSON is 200000 values/)
    }
  })

  it('has a limit of members of one object', async () => {
    for (const data of [members(50_001), sparse(50_001)]) {
      const { status, json } = await send(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', data })
      assert.equal(status, 413)
      assert.match(String(json().message), /limit of one object is 50000 members: data$/)
    }
  })

  it('with a large map is accepted, and does not block others', async () => {
    const data = members(30_000)
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, data }
    const created = await send(configMaps, object)
    assert.equal(created.status, 201, created.body.slice(0, 500))
    const managedFields = times(2_000, i => ({
      apiVersion: 'v1',
      operation: 'Update',
      manager: `m${i}`,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { [`f:k${i}`]: {} } },
    }))
    const owned = { ...object, metadata: { name: 'owned', managedFields } }
    assert.equal((await send(configMaps, owned)).status, 201)
  })

  describe('in an access review', () => {
    const scoped = (texts: readonly string[]) => ({ 'authentication.kcp.io/scopes': texts })
    const scopes = times(90_000, i => `cluster:c${i}`)
    const users: Readonly<Record<string, object>> = {
      'many scopes': { extra: scoped([scopes.join(), scopes.toReversed().join()]) },
      'many warrants': { extra: { 'authorization.kcp.io/warrant': times(190_000, () => 'x') } },
      'many groups': { groups: times(190_000, i => `g${i}`) },
      'many keys': { extra: Object.fromEntries(times(49_000, i => [`k${i}`, ['']])) },
    }
    for (const [what, more] of Object.entries(users))
      it(`of a user with ${what} is answered`, async () => {
        const resourceAttributes = { verb: 'get', resource: 'secrets', namespace: 'default', name: 'a' }
        const spec = { user: 'ada', groups: ['system:authenticated'], ...more, resourceAttributes }
        const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
        const { status, body } = await send(
          `${base}/apis/authorization.k8s.io/v1/subjectaccessreviews`,
          review,
        )
        assert.equal(status, what === 'many groups' ? 422 : 201, body.slice(0, 500))
      })
  })

  it('compares the audiences of a token with many others', async () => {
    const accounts = `${base}/api/v1/namespaces/default/serviceaccounts`
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } }
    assert.equal((await send(accounts, account)).status, 201)
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' }
    const asked = { ...review, spec: { audiences: times(125_000, i => `a${i}`) } }
    const { status, json } = await send(`${accounts}/robot/token`, asked)
    assert.equal(status, 201)
    const { token } = json<{ status: { token: string } }>().status
    const spec = { token, audiences: times(125_000, i => `b${i}`) }
    const reviewed = await send(`${base}/apis/authentication.k8s.io/v1/tokenreviews`, {
      ...review,
      kind: 'TokenReview',
      spec,
    })
    assert.equal(reviewed.status, 201, reviewed.body.slice(0, 500))
  }).timeout(20_000)

  describe('with a long list', () => {
    const admission = 'admissionregistration.k8s.io/v1'
    const webhook = {
      name: 'a.example.com',
      sideEffects: 'None',
      clientConfig: { url: 'https://example.com/' },
      admissionReviewVersions: ['v1', ...times(190_000, i => `v${i}x`)],
    }
    const keys = {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': times(190_000, i => `k${i}`),
      items: { type: 'object', properties: { k0: { type: 'string' } } },
    }
    const spec = (definition() as { spec: { versions: object[] } }).spec
    const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties: { keys } } } }
    const versions = [{ ...spec.versions[0], schema: { openAPIV3Schema } }]
    const accounts = `${base}/api/v1/namespaces/default/serviceaccounts`
    const secrets = (letter: string, count: number) => times(count, i => ({ name: `${letter}${i}` }))

    for (const [what, path, object] of [
      [
        'of versions of reviews',
        `${base}/apis/${admission}/validatingwebhookconfigurations`,
        { apiVersion: admission, kind: 'ValidatingWebhookConfiguration', webhooks: [webhook] },
      ],
      [
        'of the keys of a list',
        `${base}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`,
        { ...definition(), spec: { ...spec, versions } },
      ],
    ] as const)
      it(`${what} is validated`, async () => {
        const metadata = { name: `bombs.${group}` }
        const { status, body } = await send(`${path}?dryRun=All`, { ...object, metadata })
        assert.ok(status === 201 || status === 422, body.slice(0, 500))
      }).timeout(20_000)

    it('merges it with another one', async () => {
      const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'long' } }
      const created = await send(accounts, { ...account, secrets: secrets('a', 10_000) })
      assert.equal(created.status, 201, created.body.slice(0, 500))
      const type = 'application/strategic-merge-patch+json'
      const patch = { secrets: secrets('b', 100_000) }
      const { status, body } = await send(`${accounts}/long?dryRun=All`, patch, type, 'PATCH')
      assert.ok([200, 413].includes(status), body.slice(0, 500))
    }).timeout(20_000)
  })
})
