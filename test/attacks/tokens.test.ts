import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { eventually } from '../support/oriel.ts'
import { answeredDuring, create, programs, type Scene } from './programs.ts'

/** Sends requests with different unknown tokens at once. Resolves with the status of each. */
async function flood(
  { url, ca }: { url: string; ca: string },
  path: string,
  count: number,
): Promise<number[]> {
  const session = connect(url, { ca })
  const status = (i: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { ':path': path, authorization: `Bearer unknown-${i}` }
      const stream = session.request(headers).on('error', reject)
      stream.on('response', head => resolve(Number(head[':status']))).resume()
    })
  try {
    return await Promise.all(Array.from({ length: count }, (_, i) => status(i)))
  } finally {
    session.close()
  }
}

for (const program of ['oriel front-proxy', 'oriel virtual-workspaces'] as const)
  describe(`${program}, attacked by a client that sends unknown tokens`, function () {
    this.timeout(120_000)
    let scene: Scene
    before(async () => {
      scene = await (programs[program] as () => Promise<Scene>)()
      await eventually(
        () => create(scene.victim, 'first', 1),
        status => status === 201,
      )
    })
    after(() => scene.stop())

    it('asks the shard about a few at a time, and answers users whose tokens it knows', async () => {
      const { path } = scene.victim
      const attack = flood(scene.attacker, path, 800)
      const answered = await answeredDuring(scene, attack)
      const statuses = await attack
      assert.deepEqual([...new Set(statuses)].sort(), [401, 429])
      assert.ok(answered > 0)
    })
  })
