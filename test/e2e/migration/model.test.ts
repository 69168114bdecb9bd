import { randomFrom } from '../../model/random.ts'
import { anyEdit, bindOrUnbind, claimAny, type Edit } from './edits.ts'
import { type ModelScene, openModelScene } from './modelscene.ts'

const seed = Number(process.env.SEED ?? 1)
const steps = Number(process.env.MIGRATION_STEPS ?? 16)
const all = ['root', 'beta', 'gamma'] as const
/** How many of 100 moves shards are killed in. */
const kills = Number(process.env.MIGRATION_KILLS ?? 0)
const names = all.slice(0, Number(process.env.MIGRATION_SHARDS ?? 2))

describe(`views of ${names.length} shards between which logical clusters move (seed ${seed})`, function () {
  this.timeout(240_000 + steps * 5_000)
  const random = randomFrom(seed)
  let model: ModelScene

  before(async () => {
    model = await openModelScene(names)
  })
  after(() => model.stop())

  function anyMove(name: string): Edit {
    const { world, move, moveWithKills } = model
    // Consumers twice as often: objects move with them.
    const placed = random.pick([...world.consumers, ...world.consumers, ...world.providers])
    const meanwhile = world.consumers.map(consumer =>
      Array.from({ length: random.number(4) }, () => anyEdit(random, world, consumer)),
    )
    const to = random.pick(names.filter(each => each !== placed.shard))
    if (random.chance(kills / 100))
      return moveWithKills(name, placed, to, [random.pick(names), random.pick(names)])
    return move(name, placed, to, meanwhile)
  }

  function anyStep(step: number): Edit {
    const { world } = model
    const kind = random.number(10)
    if (kind < 4) return anyMove(`move-${step}`)
    if (kind < 5) return claimAny(random, world)
    if (kind < 7) return bindOrUnbind(random, world)
    return anyEdit(random, world, random.pick(world.consumers))
  }

  it('show together what one shard would show, after every step, and lose and repeat no event', async () => {
    for (let step = 0; step < steps; step++) await model.make(anyStep(step))
  })
})
