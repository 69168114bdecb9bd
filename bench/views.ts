import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { ItemWatch, ResourceStorage } from '../framework/index.ts'
import { resources } from '../kcp/resources.ts'
import { consumers, DeclaredWorld, provider } from '../test/model/declared/world.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { median, percentile } from './tools/statistics.ts'

// Smaller numbers are for a short run: VIEWS_OBJECTS=1000 VIEWS_WATCHERS=100.
const objects = Number(process.env.VIEWS_OBJECTS ?? 10_000)
const watchers = Number(process.env.VIEWS_WATCHERS ?? 1_000)
const views = 100
const changes = 20
const rounds = 3

const red = "object.spec.color == 'red'"
const resource = { group: 'example.com', resource: 'widgets', verbs: ['get', 'list', 'watch'] }

/** Each View has an expression of its own, which is true for all objects of this benchmark. */
const filtered = (i: number) => ({ ...resource, where: `object.spec.size < ${objects + i}` })

/** Views over widgets of three consumers. */
class Scene {
  readonly world: DeclaredWorld

  constructor(world: DeclaredWorld) {
    this.world = world
  }

  async fill(): Promise<void> {
    for (let i = 0; i < objects; i++) await this.world.write(widget(i, i), false)
  }

  declare(name: string, ...of: readonly object[]): Promise<unknown> {
    const key = { cluster: provider, namespace: '', name }
    return this.world.shard.client.create(resources.views, key, {
      apiVersion: 'views.oriel.dev/v1alpha1',
      kind: 'View',
      metadata: { name },
      spec: { source: { apiExport: 'widgets' }, resources: of },
    })
  }

  /** Lists a View. Returns the resourceVersion of the list. */
  async list(view: string): Promise<string> {
    const list = this.world.storageOf(view).list(this.world.contextOf('bench', '*'), { cluster: '*' })
    let next = await list.next()
    while (!next.done) next = await list.next()
    return next.value.resourceVersion
  }
}

const widget = (i: number, size: number, token = 'secret') => ({
  cluster: consumers[i % consumers.length] ?? '',
  name: `w-${i}`,
  color: 'red',
  size,
  team: i % 100 === 0 ? 'rare' : 'ops',
  token,
})

/** Watches whose events are counted. */
class Counted {
  readonly #stop = new AbortController()
  readonly #delays: number[] = []
  #events = 0
  #wanted = 0
  #done: () => void = () => undefined
  sentAt = 0

  open(storage: ResourceStorage, scene: Scene, resourceVersion: string): void {
    const ctx = { ...scene.world.contextOf('bench', '*', 'watch'), signal: this.#stop.signal }
    const watch = storage.watch(ctx, {
      cluster: '*',
      resourceVersion,
      initialEvents: false,
      bookmarks: false,
    })
    void this.#read(watch)
  }

  async #read(watch: ItemWatch): Promise<void> {
    for await (const events of watch)
      for (const { item } of events) {
        // As the response does, which is encoded once for all watchers of an item.
        if (item.bytes.length > 0) this.#events++
        this.#delays.push(performance.now() - this.sentAt)
        if (this.#events >= this.#wanted) this.#done()
      }
  }

  /** Resolves when so many more events have arrived. */
  next(count: number): Promise<void> {
    this.#wanted = this.#events + count
    return new Promise(resolve => {
      this.#done = resolve
    })
  }

  takeDelays(): readonly number[] {
    return this.#delays.splice(0)
  }

  close(): void {
    this.#stop.abort()
  }
}

interface Delivered {
  readonly seconds: number
  readonly p99: number
}

/** Changes one object after the other, each when all watchers have the event of the one before. */
async function delivered(scene: Scene, names: readonly string[]): Promise<Delivered> {
  const counted = new Counted()
  const version = await scene.list(names[0] ?? '')
  for (let i = 0; i < watchers; i++)
    counted.open(scene.world.storageOf(names[i % names.length] ?? ''), scene, version)
  await settled()
  const begin = performance.now()
  for (let i = 0; i < changes; i++) {
    const all = counted.next(watchers)
    counted.sentAt = performance.now()
    await scene.world.write(widget(i, i, String(counted.sentAt)), true)
    await all
  }
  const seconds = (performance.now() - begin) / 1_000
  const delays = counted.takeDelays()
  counted.close()
  await settled()
  return { seconds, p99: percentile([...delays], 0.99) }
}

const settled = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) await new Promise(resolve => setImmediate(resolve))
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const heap = (): number => {
  for (let i = 0; i < 3; i++) collect()
  return process.memoryUsage().heapUsed
}

/** From the request that creates a View to its first list of one object. */
async function firstAnswers(scene: Scene): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < 10; i++) {
    const name = `first-${i}`
    times.push(
      await timed(async () => {
        await scene.declare(name, { ...resource, where: `object.metadata.name == 'w-${i}'` })
        await scene.list(name)
      }),
    )
  }
  return median(times)
}

interface Refused {
  readonly milliseconds: number
  /** The longest time in which the event loop did nothing else, in milliseconds. */
  readonly hold: number
}

/** A list whose expression costs as much for each object as it may: it is refused when the request has no cost left. */
async function badExpression(scene: Scene): Promise<Refused> {
  const digits = '[0,1,2,3,4,5,6,7,8,9]'
  const costly = ['a', 'b', 'c', 'd'].reduceRight(
    (inner, name) => `${digits}.all(${name}, ${inner})`,
    'a+b+c+d+object.spec.size >= 0',
  )
  await scene.declare('costly', { ...resource, where: costly })
  const holds = monitorEventLoopDelay({ resolution: 1 })
  holds.enable()
  const list = scene.list('costly').then(
    () => 'listed',
    () => 'refused',
  )
  let result = ''
  const milliseconds = await timed(async () => {
    result = await list
  })
  holds.disable()
  // With few objects, the list is complete: all of them are hidden.
  if (objects > 2_000 && result !== 'refused') throw new Error('the expression is not too expensive')
  return { milliseconds, hold: holds.max / 1e6 }
}

/** The first lists of Views with expressions that nothing was kept for, relative to one without an expression. */
async function firstLists(scene: Scene): Promise<readonly Row[]> {
  const kinds: readonly (readonly [string, string, object])[] = [
    ['views-list', 'where of a field, and hide', { where: red, hide: ['spec.token'] }],
    ['views-list-body', 'where of a field', { where: `${red} && object.spec.size >= 0` }],
    ['views-list-metadata', 'where of metadata', { where: "object.metadata.name.startsWith('w-')" }],
    [
      'views-list-label',
      'where of a label that one of 100 has',
      { where: "object.metadata.labels['team'] == 'rare'" },
    ],
  ]
  const plain = await timed(() => scene.list('plain'))
  const rows: Row[] = []
  for (const [id, what, more] of kinds) {
    await scene.declare(id, { ...resource, ...more })
    const milliseconds = await timed(() => scene.list(id))
    rows.push(row(id, `first LIST of ${objects} objects: ${what}`, [milliseconds, 'ms'], plain))
  }
  return rows
}

async function measured(scene: Scene): Promise<readonly Row[]> {
  const names = Array.from({ length: views }, (_, i) => `filtered-${i}`)
  await scene.declare('plain', resource)
  await scene.list('plain')
  const before = heap()
  for (const [i, name] of names.entries()) await scene.declare(name, filtered(i))
  for (const name of names) await scene.list(name)
  const memory = (heap() - before) / views / 1024
  const [plain, many]: [Delivered[], Delivered[]] = [[], []]
  for (let i = 0; i < rounds; i++) {
    plain.push(await delivered(scene, ['plain']))
    many.push(await delivered(scene, names))
  }
  const rate = (all: readonly Delivered[]) => (changes * watchers) / median(all.map(({ seconds }) => seconds))
  const p99 = (all: readonly Delivered[]) => median(all.map(each => each.p99))
  const bad = await badExpression(scene)
  return [
    row('views-events', `events to ${watchers} watchers of ${views} Views`, [rate(many), '/s'], rate(plain)),
    row('views-p99', `p99 of the delay of these events`, [p99(many), 'ms'], p99(plain)),
    ...(await firstLists(scene)),
    {
      id: 'views-memory',
      measure: `memory of a View after a LIST of ${objects} objects`,
      value: memory,
      unit: 'KiB',
    },
    {
      id: 'views-first',
      measure: 'from the creation of a View to its first list',
      unit: 'ms',
      value: await firstAnswers(scene),
      target: { atMost: 100 },
    },
    {
      id: 'views-bad',
      value: bad.milliseconds,
      unit: 'ms',
      measure: 'LIST with an expression that costs too much, until it is refused',
    },
    {
      id: 'views-bad-hold',
      value: bad.hold,
      unit: 'ms',
      measure: 'longest hold of the event loop meanwhile',
    },
  ]
}

const row = (id: string, measure: string, [value, unit]: readonly [number, string], plain: number): Row => ({
  id,
  measure,
  value,
  unit,
  against: { what: 'one View without an expression', value: plain },
})

/** Views declared by objects: events, delays, memory, and the time to the first answer. */
export const declaredViews: Benchmark = async ({ progress }) => {
  const scene = new Scene(await DeclaredWorld.start())
  progress('writing objects')
  await scene.fill()
  progress('watching')
  const rows = await measured(scene)
  await scene.world.stop()
  return rows
}
