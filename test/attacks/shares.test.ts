import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { eventually } from '../support/oriel.ts'
import { create, maxConnections, programs, type Scene, statusOf } from './programs.ts'
import { type Stalled, type Stalling, stall } from './stalling.ts'

const seen = async (times: number, ask: (i: number) => Promise<number>): Promise<readonly number[]> => {
  const statuses = new Set<number>()
  for (let i = 0; i < times; i++) statuses.add(await ask(i))
  return [...statuses]
}

for (const [program, start] of Object.entries(programs))
  describe(`${program}, attacked by a user whose clients stall`, function () {
    this.timeout(120_000)
    let scene: Scene
    const running: Stalling[] = []

    before(async () => {
      scene = await start()
      for (const name of ['a', 'b', 'c', 'd'])
        await eventually(
          () => create(scene.attacker, name, 300_000),
          status => status === 201,
        )
      await eventually(
        () => create(scene.victim, 'first', 1),
        status => status === 201,
      )
    })
    afterEach(() => {
      for (const attack of running.splice(0)) attack.leave()
    })
    after(() => scene.stop())

    async function attack(wanted: Stalled): Promise<Stalling> {
      const started = await stall(scene.attacker, wanted)
      running.push(started)
      return started
    }

    it('leaves reads to others, when it reads none of its lists', async () => {
      await attack({ connections: 2, streams: 40, method: 'GET', path: scene.attacker.path })
      assert.deepEqual(await seen(30, () => statusOf(scene.victim, scene.victim.path)), [200])
    })

    it('leaves connections to others, when it opens more than there may be', async () => {
      const { hostname, port } = new URL(scene.attacker.url)
      const sockets = Array.from({ length: 200 }, () =>
        connect(Number(port), hostname).on('error', () => undefined),
      )
      await Promise.all(sockets.map(socket => once(socket, 'connect')))
      assert.deepEqual(await seen(10, () => statusOf(scene.victim, scene.victim.path)), [200])
      const closed = () => Promise.resolve(sockets.filter(socket => socket.closed).length)
      await eventually(closed, count => count >= sockets.length - maxConnections)
      for (const socket of sockets) socket.destroy()
    })

    it('leaves writes to others, when its bodies do not arrive', async () => {
      await attack({ connections: 1, streams: 40, method: 'POST', path: scene.attacker.creates })
      assert.deepEqual(await seen(10, i => create(scene.victim, `v-${i}`, 1)), [201])
    })
  })
