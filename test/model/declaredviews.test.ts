import assert from 'node:assert/strict'
import { StatusError } from '../../framework/meta/errors.ts'
import { Follower } from './declared/follower.ts'
import { randomSpec, type Spec, shownBy, type Tier, type Widget } from './declared/specs.ts'
import { consumers, DeclaredWorld, readOf } from './declared/world.ts'
import { writeThrough } from './declared/writes.ts'
import { savedProgress, saveProgress } from './progress.ts'
import { type Random, randomFrom } from './random.ts'
import { decisions, firstSeed } from './running.ts'

const users = ['ada', 'bob']
const names = ['a', 'b', 'c', 'd']
const viewNames = ['v', 'w']
const tiers: readonly Tier[] = ['gold', 'silver', undefined]
const perWorld = 4_000

/** The plain model: everything that was written, and everything that was ever true. */
class Model {
  readonly widgets = new Map<string, Widget>()
  readonly tiers = new Map<string, Tier>()
  readonly specs = new Map<string, Spec>()
  /** All states of a widget, by logical cluster and name. */
  readonly history = new Map<string, Widget[]>()
  /** All states of a View. */
  readonly pastSpecs = new Map<string, Spec[]>()
  compared = 0
  written = 0

  set(widget: Widget): void {
    const id = `${widget.cluster}/${widget.name}`
    this.widgets.set(id, widget)
    this.history.set(id, [...(this.history.get(id) ?? []), widget])
  }

  declare(view: string, spec: Spec): void {
    this.specs.set(view, spec)
    this.pastSpecs.set(view, [...(this.pastSpecs.get(view) ?? []), spec].slice(-2))
  }

  /** What a user sees in a View now. */
  shown(view: string, user: string, scope: string): ReadonlyMap<string, string> {
    const found = new Map<string, string>()
    for (const [id, widget] of this.widgets) {
      if (scope !== '*' && scope !== widget.cluster) continue
      const shown = shownBy(this.specs.get(view) as Spec, widget, this.tiers.get(widget.cluster), user)
      this.compared++
      if (shown !== undefined) found.set(id, shown)
    }
    return found
  }

  /** Whether a user saw this state of a widget at some time: hidden states were never shown. */
  wasShown = ({ view, user }: { view: string; user: string }, read: string, id: string): boolean =>
    (this.pastSpecs.get(view) ?? []).some(spec =>
      (this.history.get(id) ?? []).some(widget =>
        tiers.some(tier => shownBy(spec, widget, tier, user) === read),
      ),
    )
}

interface Run {
  readonly world: DeclaredWorld
  readonly model: Model
  readonly random: Random
  readonly followers: Follower[]
}

async function change({ world, model, random, followers }: Run): Promise<void> {
  const what = random.number(20)
  if (what < 12) await changeWidget({ world, model, random, followers })
  else if (what < 15) {
    const cluster = random.pick(consumers)
    const tier = random.pick(tiers)
    model.tiers.set(cluster, tier)
    await world.label(cluster, tier)
  } else if (what < 16) {
    const view = random.pick(viewNames)
    const spec = randomSpec(random)
    model.declare(view, spec)
    await world.declare(view, spec)
  } else if (what < 18) random.pick(followers).end()
  else await writeInView({ world, model, random, followers })
}

/** A write of a user through a View. */
async function writeInView({ world, model, random }: Run): Promise<void> {
  const next = randomWidget(random)
  const id = `${next.cluster}/${next.name}`
  const view = random.pick(viewNames)
  const spec = model.specs.get(view) as Spec
  const place = { view, spec, user: random.pick(users), tier: model.tiers.get(next.cluster) }
  model.compared++
  model.written++
  await writeThrough(world, random, { ...place, old: model.widgets.get(id), next }, widget => {
    if (widget === undefined) model.widgets.delete(id)
    else model.set(widget)
  })
}

function randomWidget(random: Random): Widget {
  const color = random.pick(['red', 'blue', undefined])
  return {
    cluster: random.pick(consumers),
    name: random.pick(names),
    size: random.number(6),
    team: random.pick([...users, 'ops']),
    token: `t${random.number(5)}`,
    ...(color !== undefined && { color }),
  }
}

async function changeWidget({ world, model, random }: Run): Promise<void> {
  const widget = randomWidget(random)
  const id = `${widget.cluster}/${widget.name}`
  const old = model.widgets.get(id)
  if (old !== undefined && random.chance(0.25)) {
    model.widgets.delete(id)
    await world.remove(old)
    return
  }
  model.set(widget)
  await world.write(widget, old !== undefined)
}

/** LIST, pages and GET of a View, compared with the model. */
async function compareReads({ world, model, random }: Run): Promise<void> {
  const [view, user, scope] = [random.pick(viewNames), random.pick(users), random.pick([...consumers, '*'])]
  const storage = world.storageOf(view)
  const expected = model.shown(view, user, scope)
  const limit = random.chance(0.5) ? 1 + random.number(4) : 0
  const found: string[] = []
  let token = ''
  do {
    const query = { cluster: scope, ...(limit > 0 && { limit }), ...(token !== '' && { continue: token }) }
    const list = storage.list(world.contextOf(user, scope), query)
    const before = found.length
    let next = await list.next()
    for (; !next.done; next = await list.next())
      for (const { object } of next.value) found.push(readOf(object))
    token = next.value.continue ?? ''
    if (token !== '') assert.equal(found.length - before, limit, 'a page that is not the last one is full')
  } while (token !== '')
  assert.deepEqual([...found].sort(), [...expected.values()].sort(), `${view} for ${user} in ${scope}`)
  await compareGet({ world, model, random, followers: [] }, view, user)
}

async function compareGet({ world, model, random }: Run, view: string, user: string): Promise<void> {
  const [cluster, name] = [random.pick(consumers), random.pick(names)]
  const expected = model.shown(view, user, cluster).get(`${cluster}/${name}`)
  const key = { cluster, namespace: '', name }
  let found: string | undefined
  try {
    found = readOf((await world.storageOf(view).get(world.contextOf(user, cluster, 'get'), key)).object)
  } catch (error) {
    if (!(error instanceof StatusError && error.code === 404)) throw error
  }
  assert.equal(found, expected, `${view} for ${user}: ${cluster}/${name}`)
}

const isSame = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean =>
  a.size === b.size && [...a].every(([id, read]) => b.get(id) === read)

/** Every follower has what the model shows, after some turns of the event loop. */
async function compareFollowers({ model, followers }: Run): Promise<void> {
  for (const follower of followers) follower.resume()
  for (const follower of followers) {
    const { view, user, scope, state } = follower
    const expected = model.shown(view, user, scope)
    for (let turns = 0; turns < 2_000 && !isSame(state, expected) && !follower.problem; turns++)
      await new Promise(setImmediate)
    if (follower.problem) throw follower.problem
    assert.deepEqual(
      new Map([...state].sort()),
      new Map([...expected].sort()),
      `${view} for ${user} in ${scope}`,
    )
  }
}

async function play(seed: number, counts: Record<string, number>): Promise<void> {
  const random = randomFrom(seed ^ 0x71e3)
  const world = await DeclaredWorld.start()
  const model = new Model()
  for (const view of viewNames) {
    model.declare(view, randomSpec(random))
    await world.declare(view, model.specs.get(view) as Spec)
  }
  const followers: Follower[] = []
  for (const view of viewNames)
    for (const user of users)
      for (const scope of ['*', random.pick(consumers)])
        followers.push(new Follower(world, { view, user, scope }, model.wasShown))
  await Promise.all(followers.map(follower => follower.start()))
  const run = { world, model, random, followers }
  while (model.compared < perWorld) {
    const changes = 1 + random.number(4)
    for (let i = 0; i < changes; i++) await change(run)
    await compareReads(run)
    if (random.chance(0.5)) await compareFollowers(run)
  }
  await compareFollowers(run)
  for (const follower of followers) {
    follower.end()
    for (const [what, count] of Object.entries(follower.counts)) counts[what] = (counts[what] ?? 0) + count
  }
  counts.compared = (counts.compared ?? 0) + model.compared
  counts.written = (counts.written ?? 0) + model.written
  await world.stop()
}

describe('Views, against a model', function () {
  this.timeout(0)
  this.slow(600_000)
  const worlds = Math.max(1, Math.ceil(decisions / 40_000))

  it('show the objects, pages and watch histories of a plain model', async () => {
    const { seed: first, counts } = savedProgress(firstSeed) ?? { seed: firstSeed, counts: {} }
    const isContinued = savedProgress(firstSeed) !== undefined
    const isDone = (seed: number): boolean =>
      isContinued ? (counts.compared ?? 0) >= decisions : seed >= first + worlds
    for (let seed = first; !isDone(seed); seed++) {
      try {
        await play(seed, counts)
      } catch (error) {
        throw new Error(`seed ${seed}: ${error instanceof Error ? error.stack : error}`)
      }
      saveProgress({ seed: seed + 1, counts })
    }
    if (worlds > 10) process.stdout.write(`    ${JSON.stringify(counts)}\n`)
    for (const what of ['compared', 'written', 'events', 'expired', 'resumed'])
      assert.ok((counts[what] ?? 0) > worlds * 10, JSON.stringify(counts))
  })
})
