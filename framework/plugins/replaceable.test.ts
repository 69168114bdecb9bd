import assert from 'node:assert/strict'
import { open } from '../../test/support/wire.ts'
import { apiSetOf } from '../contract/apis.ts'
import { deny } from '../contract/authorizer.ts'
import { as, create, get, plain, serving, start, widgets } from '../testing/serving.ts'
import { type Generation, replaceableView } from './replaceable.ts'
import { type Definition, supervisedIn, widgetsOf } from './testing/supervised.ts'

const path = `/services/sick/clusters/team${widgets}`

describe('a view that is replaced', () => {
  const scene = serving()
  const generation = (define: Definition): Generation => {
    const end = new AbortController()
    const { view } = supervisedIn(scene, import.meta.filename, host => ({
      apis: () => apiSetOf([widgetsOf(host)], end.signal),
      ...define,
    }))
    return { view, end }
  }
  const status = async (): Promise<number> => (await get(scene, path, as('reader'))).status
  const serve = async (define: Definition) => {
    const { view, prepare } = replaceableView(generation(define))
    await start(scene, [plain(scene), view])
    await create(scene, 'team', 'a')
    return { prepare, replace: async (next: Generation) => (await prepare(next))() }
  }

  it('serves as the next one, without a restart', async () => {
    const { replace } = await serve({})
    assert.equal(await status(), 200)
    await replace(generation({ authorize: async () => deny('closed') }))
    assert.equal(await status(), 403)
    await replace(generation({}))
    assert.equal(await status(), 200)
  })

  it('ends its watches, and no others', async () => {
    const { replace } = await serve({})
    const watch = (below: string) =>
      open('HTTP/1.1', `${scene.server.url}${below}?watch=1&resourceVersion=1`, as('admin'))
    const [own, other] = await Promise.all([watch(path), watch(`/clusters/team${widgets}`)])
    for (const each of [own, other]) assert.match((await each.next()) ?? '', /"type":"ADDED"/)
    await replace(generation({}))
    assert.equal(await own.next(), undefined)
    await create(scene, 'team', 'b')
    assert.match((await other.next()) ?? '', /"name":"b"/)
    other.leave()
  })

  it('serves until the controllers of the next one are ready, and its own are ended', async () => {
    const events: string[] = []
    const running =
      (name: string, ready: Promise<void>): Definition['run'] =>
      async (begin, signal) => {
        signal.addEventListener('abort', () => events.push(`${name} ended`))
        await ready
        events.push(`${name} ready`)
        begin()
        await new Promise(() => undefined)
      }
    const run = running('first', Promise.resolve())
    const { replace } = await serve({ ...(run && { run }) })
    assert.equal(await status(), 200)
    let go: () => void = () => undefined
    const next = running('next', new Promise(resolve => (go = resolve)))
    const replaced = replace(
      generation({ authorize: async () => deny('closed'), ...(next && { run: next }) }),
    )
    assert.equal(await status(), 200)
    go()
    await replaced
    assert.equal(await status(), 403)
    assert.deepEqual(events, ['first ready', 'next ready', 'first ended'])
  })

  it('stays when the controllers of the next one fail', async () => {
    const { replace } = await serve({})
    const run = async (): Promise<void> => {
      throw new Error('no luck')
    }
    await assert.rejects(replace(generation({ run })), /no luck/)
    assert.equal(await status(), 200)
  })

  it('stays when the controllers of the next one end before they are ready', async () => {
    const { replace } = await serve({})
    await assert.rejects(
      replace(generation({ run: async () => undefined })),
      /run\(\) has ended, and did not/,
    )
    assert.equal(await status(), 200)
  })

  it('stays when the next one is given up before it is ready', async () => {
    const { prepare } = await serve({})
    const next = generation({ run: () => new Promise(() => undefined) })
    const prepared = prepare(next)
    next.end.abort(new Error('given up'))
    await assert.rejects(prepared, /given up/)
    assert.equal(await status(), 200)
  })

  it('serves until the function is called that replaces it', async () => {
    const { prepare } = await serve({})
    const replace = await prepare(generation({ authorize: async () => deny('closed') }))
    assert.equal(await status(), 200)
    replace()
    assert.equal(await status(), 403)
  })

  it('begins the controllers again that have failed', async () => {
    const { run, again, begun } = failingOnce()
    await serve({ run })
    await again
    assert.deepEqual([begun(), await status()], [2, 200])
  })

  it('begins the controllers of the next one again that have failed, and ends them with it', async () => {
    const { replace } = await serve({})
    const { run, again, begun, ended } = failingOnce()
    await replace(generation({ run }))
    await again
    assert.deepEqual([begun(), ended(), await status()], [2, 0, 200])
    await replace(generation({}))
    assert.deepEqual([begun(), ended(), await status()], [2, 2, 200])
  })

  for (const [what, run] of [
    ['have failed', () => Promise.reject(new Error('no luck'))],
    ['are not ready', () => new Promise<void>(() => undefined)],
  ] as const)
    it(`serves as the next one, when the controllers of the last one ${what}`, async () => {
      const { replace } = await serve({ run })
      assert.equal(await status(), 503)
      await replace(generation({ run: failingOnce(2).run }))
      assert.equal(await status(), 200)
    })
})

/** Controllers that are ready and then fail; the second time they go on until they are ended. */
function failingOnce(begun = 0) {
  let ended = 0
  let beginAgain: () => void = () => undefined
  const again = new Promise<void>(resolve => (beginAgain = resolve))
  const run: NonNullable<Definition['run']> = async (ready, signal) => {
    begun += 1
    signal.addEventListener('abort', () => (ended += 1))
    ready()
    if (begun === 1) throw new Error('no luck')
    beginAgain()
    await new Promise(() => undefined)
  }
  return { run, again, begun: () => begun, ended: () => ended }
}
