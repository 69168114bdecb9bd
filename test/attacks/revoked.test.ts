import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { text } from 'node:stream/consumers'
import { eventually } from '../support/oriel.ts'
import { create, programs, type Resident, type Scene, statusOf } from './programs.ts'

interface Watch {
  readonly status: Promise<number>
  /** All events, when the server has ended the watch. */
  readonly events: Promise<string>
  readonly isOpen: () => boolean
  leave(): void
}

function watch({ url, ca, token, path }: Resident): Watch {
  const session = connect(url, { ca })
  const headers = { ':path': `${path}?watch=true`, authorization: `Bearer ${token}` }
  const stream = session.request(headers)
  const status = new Promise<number>(resolve =>
    stream.on('response', head => resolve(Number(head[':status']))),
  )
  return {
    status,
    events: text(stream),
    isOpen: () => !stream.readableEnded,
    leave: () => session.destroy(),
  }
}

for (const [program, start] of Object.entries(programs))
  describe(`${program}, when the permissions of a user are taken away`, function () {
    this.timeout(120_000)
    let scene: Scene

    before(async () => {
      scene = await start()
      for (const user of [scene.attacker, scene.victim])
        await eventually(
          () => create(user, 'first', 1),
          status => status === 201,
        )
    })
    after(() => scene.stop())

    it('ends the watches of the user, and no others', async () => {
      const { attacker, victim } = scene
      const [ends, stays] = [watch(attacker), watch(victim)]
      for (const { status } of [ends, stays]) assert.equal(await status, 200)
      await scene.revoke()
      assert.match(await ends.events, /"name":"first"/)
      assert.equal(await statusOf(attacker, attacker.path), 403)
      assert.ok(stays.isOpen())
      for (const each of [ends, stays]) each.leave()
    })
  })
