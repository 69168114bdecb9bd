import assert from 'node:assert/strict'
import type { UserInfo } from '../../framework/user.ts'
import { type Random, randomFrom } from './random.ts'
import { decisions, describeWorld, firstSeed, listen } from './running.ts'
import { type Served, serveWorld } from './served.ts'
import { createViewRequest, sentFor } from './viewrequests.ts'
import { type Answer, answerOf, isOwn, type ViewRequest, waitingFor } from './viewsoracle.ts'
import { createUser, createWorld, type World } from './world.ts'

const perWorld = 5_000
const requestsPerWorld = 500

/** What happened, so that it is known that everything was tried often. */
type Tally = Map<string, number>
const count = (tally: Tally, what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1)
const timesOf = (tally: Tally, what: string): number => tally.get(what) ?? 0

const failureOf = (seed: number, world: World, request: ViewRequest, found: string): string =>
  `${found} instead of ${answerOf(world, request)}: ${describeWorld(world, { seed, ...request }, request.action.cluster)}`

async function decide(seed: number, tally: Tally): Promise<void> {
  const random = randomFrom(seed ^ 0x11fe)
  const world = createWorld(random)
  const served = await serveWorld(world)
  const users = Array.from({ length: 40 }, () => createUser(random))
  for (let i = 0; i < perWorld; i++) {
    const request = createViewRequest(random, random.pick(users), false)
    const { view, identifier, user, action } = request
    const expected = answerOf(world, request)
    const found = await served.mayIn(view, { identifier }, { user, action })
    // What is not there is somebody else's answer: the view lets its user ask.
    if (found !== ['served', 'absent'].includes(expected))
      assert.fail(failureOf(seed, world, request, found ? 'LEAK, served' : 'WRONGLY REFUSED'))
    count(tally, `${view} ${expected}`)
  }
  await served.stop()
}

/** Statuses that an answer may have. Whoever is served may still hear that something is missing, or cannot be done. */
const statuses: Readonly<Record<Answer, (status: number) => boolean>> = {
  refused: status => status === 403,
  absent: status => [404, 405].includes(status),
  broken: status => [500, 503].includes(status),
  served: status => ![401, 403, 500].includes(status),
}

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
  const { method, path, body, contentType } = sentFor(request)
  const leaving = new AbortController()
  const reply = await fetch(url + path, {
    method,
    signal: leaving.signal,
    headers: { authorization: String(index), ...(contentType && { 'content-type': contentType }) },
    ...(body !== undefined && { body }),
  })
  const expected = answerOf(world, request)
  const what = `${method} ${path}: ${reply.status}`
  assert.ok(statuses[expected](reply.status), failureOf(seed, world, request, what))
  count(tally, `${request.action.verb} ${expected}`)
  const shown = request.action.verb === 'list' && reply.status === 200 ? shownTo(world, request) : undefined
  if (shown !== undefined) {
    const { items } = (await reply.json()) as { items: readonly Shown[] }
    assert.deepEqual(items.map(placeOf).sort(), [...shown].sort(), failureOf(seed, world, request, what))
    count(tally, `${request.view} list`)
  }
  leaving.abort()
}

interface Shown {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> }
}
const placeOf = ({ metadata }: Shown): string => `${metadata.annotations['kcp.io/cluster']}/${metadata.name}`

/** What a list has to have in it; undefined where it is not the view that chooses. */
function shownTo(
  world: World,
  { view, identifier, user, action }: ViewRequest,
): readonly string[] | undefined {
  const { cluster, resource } = action
  const isHere = (each: string): boolean => cluster === '*' || cluster === each
  if (view === 'workspaces')
    return world.tree.workspaces
      .filter(child => isHere(child.cluster) && isOwn(world, user, child))
      .map(child => `${child.cluster}/${child.name}`)
  if (view === 'mounts')
    return world.tree.kubeClusters
      .filter(each => isHere(each.cluster))
      .map(each => `${each.cluster}/${each.name}`)
  if (resource?.resource !== 'logicalclusters') return undefined
  const role = view === 'initializingworkspaces' ? 'initializer' : 'terminator'
  return waitingFor(world, role, identifier)
    .filter(isHere)
    .map(each => `${each}/cluster`)
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

describe('views of the tree of workspaces, against a model', function () {
  this.timeout(0)
  this.slow(600_000)
  const worlds = Math.ceil(decisions / 10_000)

  it(`let in whom an oracle lets in that looks at everything, ${worlds * perWorld} times`, async () => {
    const tally: Tally = new Map()
    for (let seed = firstSeed; seed < firstSeed + worlds; seed++) await decide(seed, tally)
    const views = [
      ...['apiresourceschema', 'initializingworkspaces', 'migratingworkspaces'],
      ...['mounts', 'terminatingworkspaces'],
    ]
    for (const view of views)
      for (const answer of ['served', 'refused'])
        assert.ok(timesOf(tally, `${view} ${answer}`) > worlds * 20, JSON.stringify([...tally]))
  })

  it('answer every verb as the oracle says, and show exactly the objects that it says, over HTTP', async () => {
    const tally: Tally = new Map()
    for (let seed = firstSeed; seed < firstSeed + worlds; seed++) await askMany(seed, tally)
    for (const verb of ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'])
      for (const answer of ['served', 'refused'])
        assert.ok(timesOf(tally, `${verb} ${answer}`) > worlds, JSON.stringify([...tally]))
    for (const view of ['initializingworkspaces', 'terminatingworkspaces', 'mounts', 'workspaces'])
      assert.ok(timesOf(tally, `${view} list`) > worlds / 4, JSON.stringify([...tally]))
  })
})
