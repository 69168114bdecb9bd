import assert from 'node:assert/strict'
import type { Action } from '../../framework/authorizer.ts'
import type { UserInfo } from '../../framework/user.ts'
import { claimedConfigMaps, mayPlainly, mayThroughView } from './oracle.ts'
import { type Random, randomFrom } from './random.ts'
import { decisions, describeWorld, firstSeed, listen } from './running.ts'
import { serveWorld } from './served.ts'
import { createAction, createUser, createWorld, type Export, everywhere, type World } from './world.ts'

const perWorld = 10_000
const requestsPerWorld = 60

/** What happened to requests, so that the model is known to have tried both answers often. */
interface Tally {
  allowed: number
  refused: number
}

const describeFailure = (seed: number, world: World, asked: object, action: Action): string =>
  describeWorld(world, { seed, ...asked, action }, action.cluster)

async function compare(seed: number, tally: Tally): Promise<void> {
  const random = randomFrom(seed)
  const world = createWorld(random)
  const served = await serveWorld(world)
  const users = Array.from({ length: 60 }, () => createUser(random))
  for (let i = 0; i < perWorld; i++) {
    const user = random.pick(users)
    const action = createAction(random, random.pick(everywhere))
    const view = world.exports.length > 0 && random.chance(0.5) ? random.pick(world.exports) : undefined
    const { deep: _deep, ...shallow } = action
    const expected = view ? mayThroughView(world, view, user, shallow) : mayPlainly(world, user, action)
    const found = view
      ? await served.mayThroughView(view, user, shallow)
      : await served.mayPlainly(user, action)
    if (expected !== found)
      assert.fail(
        `${found ? 'LEAK' : 'WRONGLY REFUSED'}: ${describeFailure(seed, world, { user, view: view?.cluster }, action)}`,
      )
    if (found) tally.allowed++
    else tally.refused++
  }
  await served.stop()
}

const placesIn = (items: readonly { metadata: { name: string; annotations?: Record<string, string> } }[]) =>
  items.map(({ metadata }) => `${metadata.annotations?.['kcp.io/cluster']}/${metadata.name}`).sort()

/** A list of config maps, at the plain endpoint or through a view: who gets which objects. */
async function compareList(seed: number, url: string, world: World, asked: Asked): Promise<boolean> {
  const { users, index, cluster, view } = asked
  const user = users[index] as UserInfo
  const base = view ? `/services/apiexport/${view.cluster}/${view.name}` : ''
  const reply = await fetch(`${url}${base}/clusters/${cluster}/api/v1/configmaps`, {
    headers: { authorization: String(index) },
  })
  const text = await reply.text()
  const resource = {
    group: '',
    version: 'v1',
    resource: 'configmaps',
    subresource: '',
    namespace: '',
    name: '',
  }
  const action: Action = { verb: 'list', cluster, resource }
  const may = view ? mayThroughView(world, view, user, action) : mayPlainly(world, user, action)
  const failure = (): string =>
    `${text.slice(0, 300)}\n${describeFailure(seed, world, { user, view: view?.cluster }, action)}`
  if (!may) {
    assert.equal(reply.status, 403, failure())
    return false
  }
  const isServed = view === undefined || view.claims.some(({ resource: claimed }) => claimed === 'configmaps')
  const exists = view !== undefined || cluster === '*' || world.clusters[cluster] !== undefined
  if (!isServed || !exists) {
    assert.equal(reply.status, 404, failure())
    return true
  }
  assert.equal(reply.status, 200, failure())
  const shown = view ? claimedConfigMaps(world, view) : world.configMaps
  const expected = shown.filter(each => cluster === '*' || each.cluster === cluster)
  assert.deepEqual(
    placesIn(JSON.parse(text).items),
    expected.map(each => `${each.cluster}/${each.name}`).sort(),
    failure(),
  )
  return true
}

interface Asked {
  readonly users: readonly UserInfo[]
  readonly index: number
  readonly cluster: string
  readonly view?: Export
}

function askedBy(random: Random, world: World, users: readonly UserInfo[]): Asked {
  const view = world.exports.length > 0 && random.chance(0.7) ? random.pick(world.exports) : undefined
  const cluster = random.pick(everywhere.filter(each => each !== 'system:admin'))
  return { users, index: random.number(users.length), cluster, ...(view && { view }) }
}

describe('authorization, against a model', function () {
  this.timeout(0)
  this.slow(600_000)

  it(`decides ${decisions} times as an oracle that looks at everything`, async () => {
    const tally: Tally = { allowed: 0, refused: 0 }
    for (let seed = firstSeed; tally.allowed + tally.refused < decisions; seed++) await compare(seed, tally)
    const share = tally.allowed / decisions
    assert.ok(share > 0.05 && share < 0.95, `both answers are tried: ${JSON.stringify(tally)}`)
  })

  it('shows exactly the objects that the oracle says, over HTTP', async () => {
    const worlds = Math.ceil(decisions / perWorld)
    let shown = 0
    for (let seed = firstSeed; seed < firstSeed + worlds; seed++) {
      const random = randomFrom(seed ^ 0x5eed)
      const world = createWorld(random)
      const served = await serveWorld(world)
      const users = Array.from({ length: 20 }, () => createUser(random))
      const server = await listen(served, users)
      for (let i = 0; i < requestsPerWorld; i++)
        if (await compareList(seed, server.url, world, askedBy(random, world, users))) shown++
      await server.close(0)
      await served.stop()
    }
    assert.ok(shown > worlds, 'some lists are allowed')
  })
})
