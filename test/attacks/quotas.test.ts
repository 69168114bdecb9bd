import assert from 'node:assert/strict'
import { discard, eventually, kubectlFor } from '../support/oriel.ts'
import { type People, startWithPeople, type Told } from '../support/people.ts'
import { apply, createWorkspaces, rolesFor, type Tenant } from '../support/tenants.ts'

const limits = [
  ...['--logical-cluster-namespace-limit', '4', '--logical-cluster-total-bytes-limit', '300Ki'],
  ...['--workspace-descendant-limit', '3', '--logical-cluster-decoded-bytes-limit', '60Ki'],
]
const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
const namespaces = (workspace: string): string => `/clusters/root:${workspace}/api/v1/namespaces`
const configMaps = (workspace: string): string => `${namespaces(workspace)}/default/configmaps`
const workspaces = (path: string): string => `/clusters/${path}/apis/tenancy.kcp.io/v1alpha1/workspaces`

const namespace = (name: string): object => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
const configMap = (name: string, size: number): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { text: 'x'.repeat(size) },
})
const workspace = (name: string): object => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
  spec: { type: { name: 'universal', path: 'root' } },
})

const roles = (workspace: string): string =>
  `/clusters/root:${workspace}/apis/rbac.authorization.k8s.io/v1/clusterroles`
const role = (name: string, length: number): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name },
  rules: [{ apiGroups: [''], resources: ['x'.repeat(length)], verbs: ['get'] }],
})
const policies = (workspace: string): string =>
  `/clusters/root:${workspace}/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies`
const policy = (name: string, length: number): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
    },
    validations: [{ expression: `'${'x'.repeat(length)}' != ''` }],
  },
})

/** Owners of a kind that is not served: their dependents stay. */
const ownersOf = (count: number): readonly object[] =>
  Array.from({ length: count }, (_, i) => ({ apiVersion: 'v1', kind: 'Unknown', name: 'o', uid: `${i}` }))
const dependent = (name: string, owners: number): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ownerReferences: ownersOf(owners) },
})

/** Creates objects until one is refused; returns the refusal, and how many were created. */
async function exhaust(create: (i: number) => Promise<Told>): Promise<{ refused: Told; created: number }> {
  for (let created = 0; created < 100; created++) {
    const told = await create(created)
    if (told.status !== 201) return { refused: told, created }
  }
  throw new Error('there is no limit')
}

describe('a user who stores without limit', function () {
  this.timeout(120_000)
  let people: People

  before(async () => {
    people = await startWithPeople(limits)
    const tenants = await createWorkspaces(people.oriel, ['attacker', 'victim'])
    const [own, others] = tenants as [Tenant, Tenant]
    await apply(own.kubectl, ...rolesFor('user-1', everything))
    await apply(others.kubectl, ...rolesFor('user-2', everything))
  })
  after(() => discard(people.oriel))

  const attacker = (path: string, object: object) => people.post('user-1', path, object)
  const remove = (path: string) => people.as('user-1')(path, { method: 'DELETE' })

  it('cannot change its limits', async () => {
    const path = '/clusters/root:attacker/apis/core.kcp.io/v1alpha1/logicalclusters/cluster'
    const headers = { 'content-type': 'application/merge-patch+json' }
    const patch = (body: object) =>
      people.as('user-1')(path, { method: 'PATCH', body: JSON.stringify(body), headers })
    const owner = { apiVersion: 'v1', resource: 'workspaces', cluster: 'root', name: 'victim', uid: '1' }
    for (const change of [
      { metadata: { annotations: { 'core.kcp.io/max-total-objects': '0' } } },
      { spec: { owner } },
      { spec: { createdBy: { username: 'user-2' } } },
    ])
      assert.equal((await patch(change)).status, 403)
    assert.equal((await patch({ metadata: { labels: { team: 'a' } } })).status, 200)
  })

  it('is limited in namespaces, and other users are not affected', async () => {
    const { refused } = await exhaust(i => attacker(namespaces('attacker'), namespace(`n-${i}`)))
    assert.equal(refused.status, 403)
    const text =
      /^namespaces "n-\d" is forbidden: logical cluster "\w+" has reached its limit of namespaces \(4\/4\)/
    assert.match(refused.json().message ?? '', text)
    assert.equal((await people.post('user-2', namespaces('victim'), namespace('n'))).status, 201)
    assert.equal((await remove(`${namespaces('attacker')}/n-0`)).status, 200)
    await eventually(
      () => attacker(namespaces('attacker'), namespace('again')),
      ({ status }) => status === 201,
    )
  })

  it('is limited in owner references, which the garbage collector keeps in an index', async () => {
    const path = configMaps('attacker')
    const { refused, created } = await exhaust(i => attacker(path, dependent(`d-${i}`, 400)))
    assert.ok(created >= 1 && created <= 4, `${created} objects with 400 owners were created`)
    assert.equal(refused.status, 403)
    assert.match(refused.json().message ?? '', /Views and owner references \(\d+\/61440\); delete objects/)
    assert.equal((await attacker(path, configMap('unowned', 1))).status, 201)
    const headers = { 'content-type': 'application/merge-patch+json' }
    const patch = (body: object) =>
      people.as('user-1')(`${path}/d-0`, { method: 'PATCH', body: JSON.stringify(body), headers })
    assert.equal((await patch({ data: { a: 'b' } })).status, 200)
    assert.equal((await patch({ metadata: { ownerReferences: ownersOf(401) } })).status, 403)
    for (let i = 0; i < created; i++) assert.equal((await remove(`${path}/d-${i}`)).status, 200)
    assert.equal((await attacker(path, dependent('again', 400))).status, 201)
    assert.equal((await remove(`${path}/again`)).status, 200)
  })

  it('is limited in bytes, also by updates, and can always delete', async () => {
    const path = configMaps('attacker')
    const { refused, created } = await exhaust(i => attacker(path, configMap(`c-${i}`, 50_000)))
    assert.ok(created >= 3 && created <= 6, `${created} objects of 50 kB were created`)
    assert.equal(refused.status, 403)
    assert.match(
      refused.json().message ?? '',
      /has reached its limit of bytes \(\d+\/307200\); delete objects/,
    )
    const body = JSON.stringify({ data: { more: 'x'.repeat(50_000) } })
    const headers = { 'content-type': 'application/merge-patch+json' }
    const grown = await people.as('user-1')(`${path}/c-0`, { method: 'PATCH', body, headers })
    assert.equal(grown.status, 403)
    assert.equal((await people.post('user-2', configMaps('victim'), configMap('c', 50_000))).status, 201)
    for (let i = 0; i < 3; i++) assert.equal((await remove(`${path}/c-${i}`)).status, 200)
    assert.equal((await attacker(path, configMap('again', 50_000))).status, 201)
  })

  it('is limited in what the server keeps decoded, of which expressions take the most', async () => {
    const { refused, created } = await exhaust(i => attacker(policies('attacker'), policy(`p-${i}`, 1_000)))
    assert.ok(created >= 2 && created <= 6, `${created} policies of about 1 kB were created`)
    assert.equal(refused.status, 403)
    const text =
      /has reached its limit of bytes of definitions, RBAC objects, policies, Views and owner references \(\d+\/61440\); delete objects/
    assert.match(refused.json().message ?? '', text)
    assert.equal((await attacker(roles('attacker'), role('more', 1))).status, 403)
    assert.equal((await attacker(configMaps('attacker'), configMap('other', 1))).status, 201)
    assert.equal((await people.post('user-2', roles('victim'), role('own', 10_000))).status, 201)
    for (let i = 0; i < created; i++) await remove(`${policies('attacker')}/p-${i}`)
    assert.equal((await attacker(roles('attacker'), role('more', 1))).status, 201)
  })

  it('is limited in bytes of objects that are being deleted, which can still lose their finalizers', async () => {
    const path = configMaps('attacker')
    const held = { ...configMap('held', 1), metadata: { name: 'held', finalizers: ['example.com/hold'] } }
    assert.equal((await attacker(path, held)).status, 201)
    await exhaust(i => attacker(path, configMap(`full-${i}`, 50_000)))
    assert.equal((await remove(`${path}/held`)).status, 200)
    const headers = { 'content-type': 'application/merge-patch+json' }
    const patch = (body: object) =>
      people.as('user-1')(`${path}/held`, { method: 'PATCH', body: JSON.stringify(body), headers })
    assert.equal((await patch({ data: { more: 'x'.repeat(500_000) } })).status, 403)
    assert.equal((await patch({ metadata: { finalizers: null } })).status, 200)
    assert.equal((await people.as('user-1')(`${path}/held`)).status, 404)
  })

  it('is limited in workspaces below its own, at any depth', async () => {
    const path = 'root:victim'
    const create = (at: string, name: string) => people.post('user-2', workspaces(at), workspace(name))
    assert.equal((await create(path, 'a')).status, 201)
    await eventually(
      () => create(`${path}:a`, 'b'),
      ({ status }) => status === 201,
    )
    const { refused } = await exhaust(i => create(`${path}:a`, `c-${i}`))
    assert.equal(refused.status, 403)
    assert.match(
      refused.json().message ?? '',
      /workspace "root:victim" has reached its limit of workspaces below it \(3\/3\)/,
    )
    assert.equal((await create(path, 'd')).status, 403)
  })
})

describe('a user with many workspaces', function () {
  this.timeout(120_000)
  const own = ['a', 'b', 'c']
  let people: People

  before(async () => {
    people = await startWithPeople(['--total-bytes-limit', '4Mi'])
    const [attacker, victim] = (await createWorkspaces(people.oriel, ['attacker', 'victim'])) as [
      Tenant,
      Tenant,
    ]
    await apply(attacker.kubectl, ...rolesFor('user-1', everything))
    await apply(victim.kubectl, ...rolesFor('user-2', everything))
    for (const name of own)
      assert.equal((await people.post('user-1', workspaces('root:attacker'), workspace(name))).status, 201)
  })
  after(() => discard(people.oriel))

  it('cannot use up the bytes of all logical clusters', async () => {
    for (const name of [...own, '']) {
      const home = name === '' ? 'attacker' : `attacker:${name}`
      const create = (i: number) => people.post('user-1', configMaps(home), configMap(`c-${i}`, 100_000))
      await eventually(
        () => create(0),
        ({ status, body }) => status === 201 || body.includes('has reached its limit'),
      )
      const { refused } = await exhaust(i => create(i + 1))
      assert.match(refused.json().message ?? '', /has reached its limit of bytes in the server \(\d+\/\d+\)/)
    }
    assert.equal((await people.post('user-2', configMaps('victim'), configMap('c', 10_000))).status, 201)
  })

  it('is seen in the metrics before all is used', async () => {
    const text = await kubectlFor(people.oriel, 'shard-base')(['get', '--raw', '/metrics'])
    const of = (name: string) =>
      Number(new RegExp(`^${name}\\{limit="total"\\} (\\d+)$`, 'm').exec(text)?.[1])
    const [used, most] = [of('oriel_stored_bytes'), of('oriel_stored_bytes_limit')]
    assert.equal(most, 4 * 2 ** 20)
    assert.ok(used > most / 2 && used < most, `${used}`)
  })
})
