import { randomFrom } from '../../model/random.ts'
import { needsLastingStore } from '../../support/notrun.ts'
import { bindTo, claim, put, unbind } from './edits.ts'
import { type ModelScene, openModelScene } from './modelscene.ts'
import { type AcceptedClaim, gadgetsOf, type Kind, type Placed } from './world.ts'

const configMaps: Kind = { group: '', resource: 'configmaps' }

describe('logical clusters that move over three shards and back, with watches on all', function () {
  this.timeout(240_000)
  const random = randomFrom(1)
  let model: ModelScene

  before(async () => {
    model = await openModelScene(['root', 'beta', 'gamma'], ['root'])
    const { world } = model
    const all: AcceptedClaim = { state: 'Accepted', selector: 'all' }
    for (const provider of world.providers) {
      await model.make(claim(world, provider, new Set([0])))
      for (const consumer of world.consumers) {
        await model.make(bindTo(world, consumer, provider, new Map([[0, all]])))
        await model.make(put(random, consumer, gadgetsOf(provider)))
        await model.make(put(random, consumer, configMaps))
      }
    }
  })
  after(() => model.stop())

  async function goAround(placed: Placed, name: string): Promise<void> {
    const { make, move, world } = model
    const kinds = [configMaps, ...world.providers.map(gadgetsOf)]
    for (const to of ['beta', 'gamma', 'root'] as const) {
      const meanwhile = world.consumers.map(consumer => kinds.map(kind => put(random, consumer, kind)))
      await make(move(`${name}-to-${to}`, placed, to, meanwhile))
    }
  }

  it('are shown as on one shard when a consumer moves', async () => {
    const [consumer] = model.world.consumers
    if (consumer !== undefined) await goAround(consumer, 'consumer')
  })

  it('are shown as on one shard when the provider moves', async () => {
    const [provider] = model.world.providers
    if (provider !== undefined) await goAround(provider, 'provider')
  })

  it('are shown by a shard that was killed with its first binding, and not after its last one', async function () {
    needsLastingStore(this)
    const { make, restart, world } = model
    const [provider, consumer] = [world.providers[0], world.consumers.find(({ shard }) => shard === 'gamma')]
    if (provider === undefined || consumer === undefined) return
    await make(restart(['gamma']))
    await make(unbind(consumer, provider))
    await make(restart(['gamma']))
    await make(bindTo(world, consumer, provider, new Map()))
    await make(put(random, consumer, gadgetsOf(provider)))
  })

  it('are shown as on one shard when both shards are killed meanwhile', async function () {
    needsLastingStore(this)
    const { make, moveWithKills, world } = model
    const [provider] = world.providers
    if (provider !== undefined) await make(moveWithKills('killed', provider, 'gamma', ['gamma', 'root']))
  })
})
