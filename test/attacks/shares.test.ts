import assert from 'node:assert/strict'
import { join } from 'node:path'
import { discard, readText } from '../support/oriel.ts'
import { type People, startWithPeople } from '../support/people.ts'
import { apply, createWorkspaces, rolesFor, type Tenant } from '../support/tenants.ts'
import { type Attacker, type Stalled, type Stalling, stall } from './stalling.ts'

const limits = ['--max-requests-inflight', '20', '--max-mutating-requests-inflight', '10']
const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
const configMaps = (workspace: string): string =>
  `/clusters/root:${workspace}/api/v1/namespaces/default/configmaps`
const large = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { text: 'x'.repeat(300_000) },
})
const small = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

describe('a user whose clients stall', function () {
  this.timeout(120_000)
  let people: People
  let attacker: Attacker
  const running: Stalling[] = []

  before(async () => {
    people = await startWithPeople(limits)
    const { oriel } = people
    const [own, others] = (await createWorkspaces(oriel, ['attacker', 'victim'])) as [Tenant, Tenant]
    await apply(own.kubectl, ...rolesFor('user-1', everything))
    await apply(others.kubectl, ...rolesFor('user-2', everything))
    const ca = await readText(join(oriel.directory, 'ca.crt'))
    attacker = { url: oriel.url, ca, token: 'user-1-token' }
    for (const name of ['a', 'b', 'c', 'd']) {
      const { status, body } = await people.post('user-1', configMaps('attacker'), large(name))
      assert.equal(status, 201, body)
    }
  })
  afterEach(() => {
    for (const attack of running.splice(0)) attack.leave()
  })
  after(() => discard(people.oriel))

  async function attack(wanted: Stalled): Promise<Stalling> {
    const started = await stall(attacker, wanted)
    running.push(started)
    return started
  }
  const statusesOf = async (times: number, ask: (i: number) => Promise<{ status: number }>) => {
    const seen: number[] = []
    for (let i = 0; i < times; i++) seen.push((await ask(i)).status)
    return [...new Set(seen)]
  }

  it('leaves reads to others, when it reads none of its lists', async () => {
    await attack({ connections: 2, streams: 40, method: 'GET', path: configMaps('attacker') })
    const lists = await statusesOf(30, () => people.as('user-2')(configMaps('victim')))
    assert.deepEqual(lists, [200])
  })

  it('leaves writes to others, when its bodies do not arrive', async () => {
    await attack({ connections: 1, streams: 40, method: 'POST', path: configMaps('attacker') })
    const creates = await statusesOf(10, i =>
      people.post('user-2', configMaps('victim'), small(`victim-${i}`)),
    )
    assert.deepEqual(creates, [201])
  })
})
