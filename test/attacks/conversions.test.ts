import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { promisify } from 'node:util'
import { eventually } from '../support/oriel.ts'
import { type AnyReview, serveWebhooks, type Webhooks } from '../support/servers/webhooks.ts'
import { convertedDefinition } from './converted.ts'
import { create, inOneProcess, type Resident, type Scene, statusOf } from './programs.ts'

const group = 'conversions.example.com'
const workspace = '/clusters/root:attacker'
const things = `${workspace}/apis/${group}`

const thing = (name: string, more = {}) => ({
  apiVersion: `${group}/v2`,
  kind: 'Thing',
  metadata: { name },
  ...more,
})

/** Sends creates on one connection, and cancels them when the server has received them. */
async function cancel({ url, ca, token }: Resident, names: readonly string[]): Promise<void> {
  const session = connect(url, { ca, servername: '' })
  session.on('error', () => undefined)
  await once(session, 'connect')
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  for (const name of names) {
    const stream = session.request({ ...headers, ':method': 'POST', ':path': `${things}/v2/things` })
    stream.on('error', () => undefined)
    stream.end(JSON.stringify(thing(name)))
  }
  // The server acknowledges frames in their order.
  await promisify(session.ping.bind(session) as (done: (error: Error | null) => void) => boolean)()
  session.destroy()
}

describe('a conversion webhook of a tenant', function () {
  this.timeout(120_000)
  let scene: Scene
  let webhooks: Webhooks
  /** Calls that wait for an answer. */
  let waiting = 0

  before(async () => {
    scene = await inOneProcess()
    webhooks = await serveWebhooks<AnyReview>({
      '/convert': () => {
        waiting++
        return 'silence'
      },
    })
    const crds = `${workspace}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`
    for (const [path, object] of [
      [crds, convertedDefinition(group, 'things', webhooks)],
      [`${things}/v1/things`, thing('a', { apiVersion: `${group}/v1` })],
    ] as const)
      await eventually(
        () => statusOf(scene.attacker, path, object),
        status => status === 201,
      )
  })
  after(async () => {
    webhooks.close()
    await scene.stop()
  })

  it('that does not answer costs no more calls than there are seats, also for canceled requests', async () => {
    await cancel(scene.attacker, ['a', 'b', 'c', 'd'])
    await eventually(
      async () => waiting,
      count => count > 0,
    )
    for (let i = 0; i < 10; i++) {
      await cancel(
        scene.attacker,
        Array.from({ length: 20 }, (_, j) => `canceled-${i}-${j}`),
      )
      assert.equal(await create(scene.victim, `victim-${i}`, 1), 201)
      assert.ok(waiting <= 5, `${waiting} calls wait`)
    }
  })
})
