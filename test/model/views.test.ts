import assert from 'node:assert/strict'
import type { UserInfo } from '../../framework/request/user.ts'
import { createWorld } from './createworld.ts'
import { type Random, randomFrom } from './random.ts'
import { decisions, describeWorld, firstSeed, listen } from './running.ts'
import { type Served, serveWorld } from './served.ts'
import { shownTo } from './shown.ts'
import { createUser } from './users.ts'
import { createViewRequest, sentFor, verbs, viewNames } from './viewrequests.ts'
import { type Answer, answerOf, type ViewRequest } from './viewsoracle.ts'
import type { World } from './world.ts'

const perWorld = 10_000
const requestsPerWorld = 500

/** Counts of outcomes, to prove that each occurred often. */
type Tally = Map<string, number>
const count = (tally: Tally, what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1)
const timesOf = (tally: Tally, what: string): number => tally.get(what) ?? 0

const failureOf = (seed: number, world: World, request: ViewRequest, found: string): string =>
  `${found} instead of ${answerOf(world, request)}: ${describeWorld(world, { seed, ...request }, request.action.cluster)}`

/** The params of a view's URL. */
function paramsOf(request: ViewRequest): Readonly<Record<string, string>> {
  const { view, identifier } = request
  const [provider = '', name = ''] = identifier.split(':')
  if (view === 'apiexport') return { provider, name }
  if (view === 'replication') return { provider, slice: name }
  return { identifier }
}

async function decide(seed: number, tally: Tally): Promise<void> {
  const random = randomFrom(seed ^ 0x11fe)
  const world = createWorld(random)
  const served = await serveWorld(world)
  const users = Array.from({ length: 40 }, () => createUser(random))
  for (let i = 0; i < perWorld; i++) {
    const request = createViewRequest(random, random.pick(users), false)
    const { view, user, action } = request
    const expected = answerOf(world, request)
    const found = await served.mayIn(view, paramsOf(request), { user, action })
    // 404 is the answer of the storage: the view allows the request.
    if (found !== ['served', 'absent'].includes(expected))
      assert.fail(failureOf(seed, world, request, found ? 'LEAK, served' : 'WRONGLY REFUSED'))
    count(tally, `${view} ${expected}`)
    count(tally, `${view} ${action.verb}`)
  }
  await served.stop()
}

/** Possible status codes of an outcome. An allowed request may still fail, for instance with 404. */
const statuses: Readonly<Record<Answer, (status: number, body: string) => boolean>> = {
  refused: status => status === 403,
  absent: status => [404, 405].includes(status),
  nothing: status => status === 404,
  broken: status => [500, 503].includes(status),
  served: (status, body) => ![401, 500].includes(status) && !(status === 403 && isRefusal(body)),
}

/** Admission also refuses, with other messages. */
const isRefusal = (body: string): boolean =>
  /: access denied"|cannot access this workspace"|denied by (initializer|terminator)Permissions/.test(body)

interface Asking {
  readonly seed: number
  readonly url: string
  readonly world: World
  readonly users: readonly UserInfo[]
  readonly tally: Tally
}

async function ask({ seed, url, world, users, tally }: Asking, random: Random): Promise<void> {
  const index = random.number(users.length)
  const request = createViewRequest(random, users[index] as UserInfo, true)
  const { verb } = request.action
  const { method, path, body, contentType } = sentFor(request)
  const leaving = new AbortController()
  const reply = await fetch(url + path, {
    method,
    signal: leaving.signal,
    headers: { authorization: String(index), ...(contentType && { 'content-type': contentType }) },
    ...(body !== undefined && { body }),
  })
  const isWatch = verb === 'watch' && reply.status === 200
  const text = isWatch ? await initialEvents(reply) : await reply.text()
  leaving.abort()
  const expected = answerOf(world, request)
  const failure = (): string =>
    failureOf(seed, world, request, `${method} ${path}: ${reply.status} ${text.slice(0, 300)}`)
  assert.ok(statuses[expected](reply.status, text), failure())
  count(tally, `${verb} ${expected}`)
  count(tally, `${request.view} ${verb}`)
  const shown = expected === 'served' ? shownTo(world, request) : undefined
  if (shown === undefined) return
  compareShown({ verb, status: reply.status, text, shown, request, failure })
  count(tally, `${request.view} shown`)
}

/** The lines of a watch up to the bookmark after the initial events. */
async function initialEvents(reply: Response): Promise<string> {
  let text = ''
  for await (const piece of reply.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece
    if (text.includes('"k8s.io/initial-events-end":"true"')) break
  }
  return text
}

interface Shown {
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly annotations: Readonly<Record<string, string>>
  }
}
const placeOf = ({ metadata: { name, namespace = '', annotations } }: Shown): string =>
  `${annotations['kcp.io/cluster']}/${namespace}/${name}`

function objectsIn(verb: string, text: string): readonly Shown[] {
  if (verb === 'list') return (JSON.parse(text) as { items: readonly Shown[] }).items
  return text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as { type: string; object: Shown })
    .filter(({ type }) => type !== 'BOOKMARK')
    .map(({ object }) => object)
}

interface Comparison {
  readonly verb: string
  readonly status: number
  readonly text: string
  readonly shown: readonly string[]
  readonly request: ViewRequest
  readonly failure: () => string
}

/**
 * Lists and watches have exactly the visible objects; a single object exists exactly when it is visible; other objects
 * cannot be changed.
 */
function compareShown({ verb, status, text, shown, request, failure }: Comparison): void {
  // The view does not support the verb.
  if (status === 405) return
  if (verb === 'list' || verb === 'watch') {
    assert.equal(status, 200, failure())
    assert.deepEqual(objectsIn(verb, text).map(placeOf).sort(), [...shown].sort(), failure())
    return
  }
  const { cluster, resource } = request.action
  if (resource === undefined || resource.name === '') return
  const isShown = shown.includes(`${cluster}/${resource.namespace}/${resource.name}`)
  if (verb === 'get') assert.equal(status === 200, isShown, failure())
  else if (status < 300) assert.ok(isShown, failure())
}

async function askMany(seed: number, tally: Tally): Promise<void> {
  const random = randomFrom(seed ^ 0x7eed)
  const world = createWorld(random)
  const served: Served = await serveWorld(world)
  const users = Array.from({ length: 20 }, () => createUser(random))
  const server = await listen(served, users)
  const asking = { seed, url: server.url, world, users, tally }
  for (let i = 0; i < requestsPerWorld; i++) await ask(asking, random)
  await server.close(0)
  await served.stop()
}

describe('views, against a model', function () {
  this.timeout(0)
  this.slow(600_000)
  const worlds = Math.ceil(decisions / perWorld)
  const wasTried = (tally: Tally, what: string, times: number): void =>
    assert.ok(timesOf(tally, what) >= times, `${what}: ${JSON.stringify([...tally].sort())}`)
  /** Whether the view has only reads. */
  const isRead = (view: string): boolean => view === 'migratingworkspaces'

  it(`allow the same requests as an oracle that scans all objects, ${worlds * perWorld} times`, async () => {
    const tally: Tally = new Map()
    for (let seed = firstSeed; seed < firstSeed + worlds; seed++) await decide(seed, tally)
    for (const view of viewNames) {
      for (const answer of ['served', 'refused']) wasTried(tally, `${view} ${answer}`, worlds)
      for (const verb of isRead(view) ? ['get'] : verbs) wasTried(tally, `${view} ${verb}`, worlds * 10)
    }
  })

  it('respond to every verb like the oracle, with exactly its objects, over HTTP', async () => {
    const tally: Tally = new Map()
    for (let seed = firstSeed; seed < firstSeed + worlds; seed++) await askMany(seed, tally)
    for (const verb of verbs)
      for (const answer of ['served', 'refused']) wasTried(tally, `${verb} ${answer}`, worlds)
    for (const view of viewNames)
      for (const verb of isRead(view) ? ['get'] : verbs) wasTried(tally, `${view} ${verb}`, worlds)
    for (const view of viewNames.filter(each => !unseen.has(each)))
      wasTried(tally, `${view} shown`, worlds / 2)
  })
})

/** Views whose objects are compared in their own tests. */
const unseen = new Set(['apiresourceschema', 'cache', 'migratingworkspaces'])
