import assert from 'node:assert/strict'
import type { Action } from '../../framework/contract/authorizer.ts'
import { createAction } from './actions.ts'
import { mayThroughView } from './content.ts'
import { createWorld } from './createworld.ts'
import { mayPlainly } from './oracle.ts'
import { randomFrom } from './random.ts'
import { decisions, describeWorld, firstSeed } from './running.ts'
import { serveWorld } from './served.ts'
import { createUser } from './users.ts'
import { everywhere, type World } from './world.ts'

const perWorld = 10_000

/** Counts of decisions, to prove that the model tried both outcomes often. */
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

describe('authorization, against a model', function () {
  this.timeout(0)
  this.slow(600_000)

  // The model of views takes the other half, also over HTTP.
  const times = decisions / 2

  it(`decides ${times} requests like an oracle that scans all objects, deep reviews included`, async () => {
    const tally: Tally = { allowed: 0, refused: 0 }
    for (let seed = firstSeed; tally.allowed + tally.refused < times; seed++) await compare(seed, tally)
    const share = tally.allowed / times
    assert.ok(share > 0.05 && share < 0.95, `both answers are tried: ${JSON.stringify(tally)}`)
  })
})
