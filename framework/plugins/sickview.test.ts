import assert from 'node:assert/strict'
import { apiSetOf } from '../contract/apis.ts'
import { allow } from '../contract/authorizer.ts'
import type { Item } from '../contract/item.ts'
import type { Host } from '../contract/workspace.ts'
import type { Lens } from '../lens/lens.ts'
import { viewOf } from '../lens/view.ts'
import { notFound } from '../meta/errors.ts'
import { as, create, get, plain, serving, start, widgets } from '../testing/serving.ts'
import { framesOf } from './position.ts'
import { type Definition, type Line, supervisedIn, widgetsOf } from './testing/supervised.ts'

/** As stack traces name it: those with source maps do not have the compiled file. */
const thisFile = framesOf(new Error('here'))[0]?.path ?? ''

const wrong = <T>(value: unknown): T => value as T
const path = `/services/sick/clusters/team${widgets}`

/** A view of the widgets through a lens. */
const through =
  (lens: unknown) =>
  (host: Host): Definition => {
    const resource = widgetsOf(host)
    const apis = apiSetOf([{ ...resource, storage: viewOf(resource.storage, () => wrong<Lens>(lens)) }])
    return { apis: () => apis }
  }

/** A view of the widgets with another storage. */
const stored =
  (storage: object) =>
  (host: Host): Definition => {
    const resource = widgetsOf(host)
    const apis = apiSetOf([{ ...resource, storage: { ...resource.storage, ...storage } }])
    return { apis: () => apis }
  }

const fail = (): never => {
  throw new Error('out of order')
}

describe('a view of a plugin that fails', () => {
  const scene = serving()
  let lines: Line[]
  const serve = async (define: (host: Host) => Definition): Promise<void> => {
    const sick = supervisedIn(scene, thisFile, define)
    lines = sick.lines
    await start(scene, [plain(scene), sick.view])
    await create(scene, 'team', 'a')
  }
  for (const member of ['authorize', 'guard'] as const)
    it(`answers 504 to a watch for which ${member} does not end`, async () => {
      const define = () => ({ [member]: () => new Promise<never>(() => undefined) })
      const { view } = supervisedIn(scene, thisFile, define)
      await start(scene, [plain(scene), view], { requestTimeout: 50 })
      assert.equal((await get(scene, `${path}?watch=true`, as('reader'))).status, 504)
    })

  const message = async (below = path, token = 'reader'): Promise<string> => {
    const { status, json } = await get(scene, below, as(token))
    assert.equal(json?.kind, 'Status', JSON.stringify(json))
    assert.equal(status, 500, json.message)
    return json.message
  }

  const cases: readonly (readonly [what: string, define: (host: Host) => Definition, text: RegExp])[] = [
    [
      'authorize: async () => true',
      () => ({ authorize: async () => wrong(true) }),
      /authorize must return a decision, such as allow\('a member'\).*, but returned true$/,
    ],
    [
      'authorize without a result',
      () => ({ authorize: wrong(() => undefined) }),
      /authorize must return a decision.*, but returned undefined$/,
    ],
    [
      'authorize with an unknown effect',
      () => ({ authorize: async () => wrong({ effect: 'yes', reason: '' }) }),
      /authorize must return a decision.*, but returned an object$/,
    ],
    [
      'authorize that throws',
      () => ({ authorize: async () => fail() }),
      /authorize threw an error, which the server logged$/,
    ],
    [
      'guard: async () => false',
      () => ({ guard: async () => wrong(false) }),
      /guard must return nothing, and throw a StatusError to refuse, but returned false$/,
    ],
    [
      'actAs without groups',
      () => ({ actAs: () => wrong({ name: 'x' }) }),
      /actAs must return a user \{ name, groups \}, such as loopback, but returned an object$/,
    ],
    ['actAs that throws', () => ({ actAs: fail }), /actAs threw an error/],
    ['apis that throws', () => ({ apis: fail }), /apis threw an error/],
    [
      'async apis',
      () => ({ apis: wrong(async () => undefined) }),
      /apis must return resources, made by apiSetOf\(\), or undefined, but returned a promise$/,
    ],
    [
      'apis with an incomplete resource',
      () => ({ apis: () => apiSetOf([wrong({ group: '', version: 'v1', names: { plural: 'x' } })]) }),
      /apis must return resources: resources\[0\]\.names must be an object with the strings plural,/,
    ],
    [
      'a lens that returns nothing',
      through({ present: () => undefined }),
      /present must return an object, but returned undefined$/,
    ],
    ['a lens that throws', through({ matches: fail }), /matches threw an error/],
    ['a list that throws', stored({ list: fail }), /widgets\.storage\.list threw an error/],
    [
      'a list that is an array',
      stored({ list: () => [] }),
      /widgets\.storage\.list must return an async generator \(async function\*\), but returned an array$/,
    ],
    [
      'a list of objects',
      stored({
        async *list() {
          yield [{ kind: 'Widget' }]
        },
      }),
      /list must return lists of items: yield \[an item, made by itemOf\(\)/,
    ],
    [
      'a list without metadata',
      stored({
        async *list() {
          yield []
        },
      }),
      /list must return the metadata of the list at its end/,
    ],
    [
      'columns that throw',
      host => ({ apis: () => apiSetOf([{ ...widgetsOf(host), columns: [{ ...column, cell: fail }] }]) }),
      /it threw an error, which the server logged$/,
    ],
  ]
  for (const [what, define, text] of cases)
    it(`answers 500 and logs file and line: ${what}`, async () => {
      await serve(define)
      const table = what.startsWith('columns')
        ? { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
        : {}
      const { status, json } = await get(scene, path, as('reader', { headers: table }))
      assert.equal(status, 500, JSON.stringify(json))
      assert.match(json.message, /^Internal error occurred: the (lens of the )?view "sick" failed: /)
      assert.match(json.message, text)
      const [line] = lines
      assert.deepEqual([line?.level, line?.view, line?.plugin], ['error', 'sick', './sick.ts'])
      assert.match(String(line?.at), /sickview\.test\.[jt]s:\d+:\d+$/)
      assert.equal(lines.length, 1, 'once')
    })

  it('does not harm the others', async () => {
    await serve(() => ({ authorize: async () => fail() }))
    await message()
    assert.equal((await get(scene, `/clusters/team${widgets}/a`)).status, 200)
    assert.equal((await get(scene, '/readyz')).status, 200)
  })

  it('answers with the errors that it throws for clients, which are not logged', async () => {
    const missing = notFound({ group: 'example.com', resource: 'widgets', name: 'b' })
    await serve(stored({ get: async () => Promise.reject(missing) }))
    for (let i = 0; i < 12; i++) assert.equal((await get(scene, `${path}/b`, as('reader'))).status, 404)
    assert.deepEqual(lines, [])
  })

  it('is not called where its apis() keeps failing', async () => {
    let calls = 0
    await serve(() => ({
      apis: () => {
        calls++
        return fail()
      },
    }))
    for (let i = 0; i < 10; i++) await message(`${path}/a`)
    const { status, json } = await get(scene, `${path}/a`, as('reader'))
    assert.deepEqual([status, calls], [503, 10], JSON.stringify(json))
    assert.equal((await get(scene, `${path}/a`, as('admin'))).status, 500, 'others are not affected')
  })

  it('is not called for a user and logical cluster for which it keeps failing, but for others', async () => {
    let calls = 0
    const failing = ({ cluster }: { cluster: string }): never | Item => {
      calls++
      if (cluster === 'team') return fail()
      throw notFound({ group: 'example.com', resource: 'widgets', name: 'a' })
    }
    await serve(stored({ get: failing }))
    for (let i = 0; i < 10; i++) await message(`${path}/a`)
    const { status, json, headers } = await get(scene, `${path}/a`, as('reader'))
    assert.equal(status, 503, JSON.stringify(json))
    assert.equal(json.message, 'the view "sick" keeps failing for you here, and is not called for a while')
    assert.equal(headers['retry-after'], '1')
    assert.equal(calls, 10)
    assert.equal((await get(scene, `${path.replace('team', 'root')}/a`, as('reader'))).status, 404)
    assert.equal((await get(scene, `${path}/a`, as('admin'))).status, 500, 'others are not affected')
    assert.match(
      lines.at(-2)?.text ?? '',
      /^view sick keeps failing: requests of this user for this cluster get 503/,
    )
    const ready = await get(scene, '/readyz?verbose')
    assert.equal(ready.status, 200)
    assert.match(ready.body, /^\[-\]sick failed: reason withheld$/m)
    assert.equal((await get(scene, '/readyz/sick')).status, 500)
  })

  it('is refused, and the request too, when it changes the user', async () => {
    await serve(() => ({
      authorize: async ({ user }) => {
        wrong<string[]>(user.groups).push('system:masters')
        return allow('everybody')
      },
    }))
    assert.match(await message(), /authorize threw an error/)
    const { status } = await get(scene, `/clusters/team${widgets}`, as('crash'))
    assert.equal(status, 500, 'the same user is no master')
  })

  it('is stopped in a request in which it blocks the server', async () => {
    let seen = 0
    const block = (): boolean => {
      seen++
      const end = performance.now() + 600
      while (performance.now() < end);
      return true
    }
    await serve(through({ matches: block }))
    for (const name of ['b', 'c', 'd']) await create(scene, 'team', name)
    assert.match(await message(), /matches blocked the server for 1\.\d s in one request$/)
    assert.equal(seen, 2)
    assert.match(
      lines[0]?.text ?? '',
      /^view sick blocked the server: move the work of matches out of requests/,
    )
  })
})

const column = { name: 'X', type: 'string', format: '', description: '', priority: 0 }

describe('a view of a plugin that is not ready', () => {
  const scene = serving()
  const starting = async (run: Definition['run']): Promise<readonly Line[]> => {
    const { view, lines } = supervisedIn(scene, thisFile, () => ({ ...(run && { run }) }))
    await start(scene, [plain(scene), view])
    return lines
  }

  it('answers 503, and fails its own line of /readyz only', async () => {
    await starting(() => new Promise(() => undefined))
    const { status, json } = await get(scene, path, as('reader'))
    assert.deepEqual([status, json.kind], [503, 'Status'])
    assert.match((await get(scene, '/readyz?verbose')).body, /^\[-\]sick failed: reason withheld$/m)
    assert.equal((await get(scene, '/readyz')).status, 200)
    assert.equal((await get(scene, '/readyz/sick')).status, 500)
    assert.equal((await get(scene, '/readyz?exclude=sick')).status, 200)
  })

  it('is logged when run() ends without ready()', async () => {
    const lines = await starting(async () => undefined)
    assert.equal((await get(scene, path, as('reader'))).status, 503)
    assert.match(
      lines[0]?.text ?? '',
      /^view sick is not ready.*: run\(\) has ended, and did not call ready\(\)$/,
    )
  })

  it('is logged with file and line when run() throws', async () => {
    const lines = await starting(async () => fail())
    assert.equal((await get(scene, path, as('reader'))).status, 503)
    assert.match(String(lines[0]?.at), /sickview\.test\.[jt]s:\d+:\d+$/)
  })
})
