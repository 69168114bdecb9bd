import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, constants } from 'node:http2'
import { request } from 'node:https'
import { promisify } from 'node:util'
import { eventually } from '../support/oriel.ts'
import { ask } from '../support/wire.ts'
import { answeredDuring, create, programs, type Resident, type Scene, statusOf } from './programs.ts'

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
const terms = encodeURIComponent(times(1_500, i => `!k${i}`).join(','))

type Attack = (attacker: Resident) => Promise<number>

const post = async ({ url, ca, token, creates }: Resident, type: string, body: string): Promise<number> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': type }
  return (await ask('HTTP/2', url + creates, { method: 'POST', ca, headers, body })).status
}

const patch = async ({ url, ca, token, creates }: Resident, to: Patch): Promise<number> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': to.type }
  const sent = { method: 'PATCH', ca, headers, body: JSON.stringify(to.body) }
  return (await ask('HTTP/2', `${url}${creates}/${to.name}?dryRun=All&fieldManager=a`, sent)).status
}

/** A create whose body has 15,000 chunks. */
async function inSmallChunks({ url, ca, token, creates }: Resident): Promise<number> {
  const sent = request(url + creates, {
    method: 'POST',
    ca,
    servername: '',
    agent: false,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })
  sent.on('error', () => undefined)
  const responded = once(sent, 'response')
  for (let i = 0; i < 15_000; i++) sent.write(' ')
  sent.end()
  const [response] = await responded
  response.resume()
  return response.statusCode
}

/** 300 lists on one connection, each of which is canceled when it is sent; then a list. */
async function reset(of: Resident): Promise<number> {
  const session = connect(of.url, { ca: of.ca, servername: '' })
  session.on('error', () => undefined)
  await once(session, 'connect')
  for (let i = 0; i < 300; i++) {
    const stream = session.request({ ':path': of.path, authorization: `Bearer ${of.token}` })
    stream.on('error', () => undefined)
    stream.once('ready', () => setImmediate(() => stream.close(constants.NGHTTP2_CANCEL)))
  }
  await promisify(session.ping.bind(session) as (done: (error: Error | null) => void) => boolean)()
  session.destroy()
  return statusOf(of, of.path)
}

interface Patch {
  readonly name: string
  readonly type: string
  readonly body: object
}

const initialEvents =
  'watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1'

/** The expected statuses; 429 may come, too, when the share of the attacker is used up. */
const attacks: readonly (readonly [string, readonly number[], Attack])[] = [
  ['selectors of 1,500 terms', [200], of => statusOf(of, `${of.path}?labelSelector=${terms}`)],
  ['YAML of many tokens', [413], of => post(of, 'application/yaml', `a: [${'1,'.repeat(400_000)}1]`)],
  ['JSON of many values', [413], of => post(of, 'application/json', `{"data":[${'{},'.repeat(300_000)}{}]}`)],
  [
    'a map of 30,000 members',
    [201],
    of => {
      const data = Object.fromEntries(times(30_000, i => [`k${i}`, '']))
      const object = { ...of.object('large', 1), data }
      return statusOf(of, `${of.creates}?dryRun=All`, object)
    },
  ],
  [
    'applied maps of 30,000 members',
    [200, 201],
    of => {
      const data = Object.fromEntries(times(30_000, i => [`k${i}`, '']))
      const body = { ...of.object('applied', 1), data }
      return patch(of, { name: 'applied', type: 'application/apply-patch+yaml', body })
    },
  ],
  [
    'JSON patches of 5,000 copies',
    [413],
    of => {
      const body = times(5_000, i => ({ op: 'copy', from: '/metadata', path: `/metadata/x${i}` }))
      return patch(of, { name: 'a', type: 'application/json-patch+json', body })
    },
  ],
  [
    'merge patches of 30,000 members',
    [200],
    of => {
      const body = { data: Object.fromEntries(times(30_000, i => [`k${i}`, ''])) }
      return patch(of, { name: 'a', type: 'application/merge-patch+json', body })
    },
  ],
  ['bodies in chunks of one byte', [413], inSmallChunks],
  ['streams that are reset at once', [200], reset],
  ['watches with initial events', [200], of => statusOf(of, `${of.path}?${initialEvents}`)],
]

for (const [program, start] of Object.entries(programs))
  describe(`${program}, attacked by requests that ask for much work`, function () {
    this.timeout(120_000)
    let scene: Scene

    before(async () => {
      scene = await start()
      for (const name of ['a', 'b', 'c'])
        await eventually(
          () => create(scene.attacker, name, 300_000),
          status => status === 201,
        )
      await eventually(
        () => create(scene.victim, 'first', 1),
        status => status === 201,
      )
    })
    after(() => scene.stop())

    for (const [what, expected, attack] of attacks)
      it(`answers others during ${what}`, async () => {
        const attacking = Promise.all(times(4, () => attack(scene.attacker)))
        await answeredDuring(scene, attacking)
        for (const status of await attacking) assert.ok([...expected, 429].includes(status), `${status}`)
      })
  })
