import assert from 'node:assert/strict'
import { type Installation, startInstallation } from '../../../testing/installation.ts'
import type { TestUser } from '../../../testing/user.ts'
import type { Input, Step } from './input.ts'
import { SlowInputs } from './search.ts'
import { definition, seeds, widget } from './seeds.ts'

/** Seconds of the search: `SLOW_SECONDS=3600` for one by hand, which prints what it finds. */
const seconds = Number(process.env.SLOW_SECONDS ?? 10)
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)

/**
 * Milliseconds of processor time of an input of at most 64 KiB for each step: far above what the dearest take, and far
 * below what an input takes whose cost is not bounded.
 */
const limit = 2_000

/** Runs of each seed before the search, so that its functions are compiled. */
const warmUps = 10

/** Numbers that depend on the seed only. Source: mulberry32, in the public domain. */
function randomFrom(start: number): (below: number) => number {
  let state = start
  return below => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

const shortened = ({ path, body = '' }: Step): string =>
  `${path.slice(0, 300)} ${body.slice(0, 400)}${body.length > 400 ? ` … (${body.length} bytes)` : ''}`

const describeInput = ({ name, steps }: Input): string => `${name}: ${steps.map(shortened).join(' | ')}`

describe('inputs that take long for their length', function () {
  this.timeout((seconds + 60) * 1_000)
  let oriel: Installation
  let admin: TestUser
  before(async () => {
    oriel = await startInstallation({ plugins: [] })
    const objects = Array.from({ length: 50 }, (_, i) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: i === 0 ? 'a' : `a${i}`, namespace: 'default', labels: { a: `${i}` } },
      data: { a: 'b', [`k${i}`]: 'v'.repeat(i) },
    }))
    await oriel.cluster('one', ...objects, definition)
    admin = oriel.as({ name: 'admin', groups: ['system:masters'] })
    for (const name of ['a', 'c', 'd'])
      await send({
        method: 'POST',
        path: '/clusters/one/apis/example.com/v1/namespaces/default/widgets',
        body: JSON.stringify(widget(name)),
      })
  })
  after(() => oriel.close())

  async function send({ method, path, type = 'application/json', accept, body }: Step): Promise<void> {
    const headers = { 'content-type': type, ...(accept && { accept }) }
    await admin.request(path, { method, headers, ...(body !== undefined && { body }) })
  }

  async function costOnce({ steps }: Input): Promise<number> {
    const before = process.cpuUsage()
    for (const step of steps) await send(step)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  }

  /** The least of two measurements, or of four if those are high: garbage collection and compilation cost time, too. */
  async function costOf(input: Input): Promise<number> {
    let cost = Number.POSITIVE_INFINITY
    for (let runs = 0; runs < (cost > 60 ? 4 : 2); runs++) cost = Math.min(cost, await costOnce(input))
    return cost
  }

  it('are not found by mutations that are guided by processor time', async () => {
    for (let runs = 0; runs < warmUps; runs++) for (const input of seeds) await costOnce(input)
    const search = new SlowInputs(costOf, randomFrom(seed))
    for (const input of seeds) await search.add(input)
    for (const end = Date.now() + seconds * 1_000; Date.now() < end; ) {
      await search.step()
      for (const { cost, input } of search.dearest)
        assert.ok(
          cost < limit,
          `seed ${seed}: ${cost.toFixed(0)} ms of processor time for ${describeInput(input)}`,
        )
    }
    if (process.env.SLOW_SECONDS === undefined) return
    console.log(`${search.tried} inputs, seed ${seed}`)
    for (const { cost, bytes, input } of search.dearest)
      console.log(`${cost.toFixed(1)} ms, ${bytes} bytes, ${describeInput(input)}`)
  })
})
