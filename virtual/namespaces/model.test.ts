import assert from 'node:assert/strict'
import type { WatchedEvent, WatchHistory } from '../../testing/user.ts'
import { type Grant, idOf, Scene, viewOver } from './testing/scene.ts'

const clusters = ['one', 'two'] as const
const names = ['default', 'blue', 'red'] as const

/** Numbers that are the same in each run (Knuth, MMIX). */
function randomOf(seed: number): (below: number) => number {
  let state = BigInt(seed)
  return below => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn
    return Number(state >> 33n) % below
  }
}

/** All grants that a step may give or withdraw. */
const grants: readonly Grant[] = clusters.flatMap(cluster => [
  { cluster, role: 'member', user: 'ada' },
  { cluster, role: 'reader', user: 'ada' },
  ...names.map(namespace => ({ cluster, role: 'reader', user: 'ada', namespace }) as const),
])

class Model {
  readonly given = new Set<Grant>()
  readonly #exist = new Set(clusters.flatMap(cluster => names.map(name => `${cluster}/${name}`)))

  visible(): readonly string[] {
    return [...this.#exist].filter(id => this.#sees(id)).toSorted()
  }

  #sees(id: string): boolean {
    const [cluster, name] = id.split('/')
    const mine = [...this.given].filter(grant => grant.cluster === cluster)
    const mayEnter = mine.some(({ role }) => role === 'member')
    return mayEnter && mine.some(({ role, namespace = name }) => role === 'reader' && namespace === name)
  }
}

/** What a client knows that applies the events to a list. */
class Replica {
  readonly #known: Set<string>
  #applied = 0

  constructor(listed: readonly string[]) {
    this.#known = new Set(listed)
  }

  after(events: readonly WatchedEvent[]): string {
    for (const { type, object } of events.slice(this.#applied)) {
      const id = idOf(object)
      assert.equal(type === 'ADDED', !this.#known.has(id) && type !== 'DELETED', `${type} ${id}`)
      if (type === 'DELETED') this.#known.delete(id)
      else this.#known.add(id)
    }
    this.#applied = events.length
    return String([...this.#known].toSorted())
  }
}

interface Client {
  readonly watch: WatchHistory
  readonly replica: Replica
}

describe('random changes of access', () => {
  for (const seed of [1, 2, 3])
    it(`arrive at lists and at every watch (${seed})`, async () => {
      const scene = await Scene.start(...clusters)
      for (const cluster of clusters) for (const name of names.slice(1)) await scene.create(cluster, name)
      const random = randomOf(seed)
      const model = new Model()
      const clients: Client[] = []
      for (let step = 0; step < 40; step++) {
        await change(scene, model, random)
        assert.deepEqual(await scene.listed('ada'), model.visible())
        if (step % 10 === 0) clients.push(await clientOf(scene))
      }
      for (const { watch, replica } of clients) {
        await watch.until(events => replica.after(events) === String(model.visible()))
        watch.close()
      }
      await scene.oriel.close()
    })
})

async function change(scene: Scene, model: Model, random: (below: number) => number): Promise<void> {
  if (random(4) === 0) {
    const [cluster, name] = [clusters[random(2)] ?? 'one', names[random(3)] ?? 'default']
    return scene.label(cluster, name, { step: String(random(1000)) })
  }
  const grant = grants[random(grants.length)]
  if (grant === undefined) return
  if (model.given.delete(grant)) return scene.withdraw(grant)
  model.given.add(grant)
  await scene.grant(grant)
}

/** Lists, and watches from the version of the list. */
async function clientOf(scene: Scene): Promise<Client> {
  const { object } = await scene.oriel.as('ada').request(viewOver())
  const from = `${viewOver()}?resourceVersion=${object?.metadata.resourceVersion}`
  const replica = new Replica((object?.items ?? []).map(idOf))
  return { watch: await scene.oriel.as('ada').watch(from), replica }
}
