import assert from 'node:assert/strict'
import { discard, eventually } from '../support/oriel.ts'
import { type People, startWithPeople } from '../support/people.ts'
import { apply, createWorkspaces, rolesFor, type Tenant } from '../support/tenants.ts'

const configMaps = (workspace: string): string =>
  `/clusters/root:${workspace}/api/v1/namespaces/default/configmaps?dryRun=All`

const lines = Array.from({ length: 1_000 }, (_, i) => `  k${i}: v\n`).join('')
const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  generateName: c-\ndata:\n${lines}`

describe('a user who sends many YAML documents', function () {
  this.timeout(120_000)
  let people: People

  before(async () => {
    people = await startWithPeople()
    const tenants = await createWorkspaces(people.oriel, ['attacker', 'victim'])
    const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
    for (const [i, { kubectl }] of (tenants as Tenant[]).entries())
      await apply(kubectl, ...rolesFor(`user-${i + 1}`, everything))
    for (const [user, workspace] of [
      ['user-1', 'attacker'],
      ['user-2', 'victim'],
    ] as const)
      await eventually(
        () => send(user, workspace),
        ({ status }) => status === 201,
      )
  })
  after(() => discard(people.oriel))

  const send = (user: string, workspace: string) => {
    const headers = { 'content-type': 'application/yaml' }
    return people.as(user)(configMaps(workspace), { method: 'POST', body: yaml, headers })
  }

  it('waits for its own documents, and others do not', async () => {
    const finished: string[] = []
    const sent = async (user: string, workspace: string) => {
      const { status } = await send(user, workspace)
      finished.push(user)
      return status
    }
    const many = Promise.all(Array.from({ length: 40 }, () => sent('user-1', 'attacker')))
    await eventually(
      async () => finished.length,
      length => length > 0,
    )
    assert.equal(await sent('user-2', 'victim'), 201)
    const before = finished.indexOf('user-2')
    assert.ok(before < 20, `${before} documents of the attacker were read before`)
    const statuses = new Set(await many)
    statuses.delete(429)
    assert.deepEqual([...statuses], [201])
  })
})
