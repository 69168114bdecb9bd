import assert from 'node:assert/strict'
import fc from 'fast-check'
import { widget } from '../../test/support/tinyshard.ts'
import { ask, open, protocols } from '../../test/support/wire.ts'
import { apiSetOf } from '../contract/apis.ts'
import { allow } from '../contract/authorizer.ts'
import { defineVirtualWorkspace, type VirtualWorkspace } from '../contract/workspace.ts'
import { as, create, get, host, plain, refused, serving, start, widgets } from '../testing/serving.ts'

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>(done => {
    resolve = done
  })
  return { promise, resolve }
}

describe('a server', () => {
  const scene = serving()

  for (const protocol of protocols) {
    it(`serves objects over ${protocol}`, async () => {
      await start(scene)
      const created = await ask(
        protocol,
        `${scene.server.url}/clusters/root:team${widgets}`,
        as('admin', { method: 'POST', body: JSON.stringify(widget('default', 'a')) }),
      )
      assert.equal(created.status, 201, created.body)
      const { json } = await get(scene, '/clusters/*/apis/example.com/v1/widgets', as('admin'), protocol)
      assert.equal(json.kind, 'WidgetList')
      assert.equal(json.items[0].metadata.annotations['kcp.io/cluster'], 'team')
    })

    it(`streams watches over ${protocol} until the scene.server stops`, async () => {
      await start(scene)
      const watch = await open(
        protocol,
        `${scene.server.url}/clusters/*/apis/example.com/v1/widgets?watch=1`,
        as('reader'),
      )
      assert.equal(watch.status, 200)
      await create(scene, 'root', 'a')
      assert.match((await watch.next()) ?? '', /^{"type":"ADDED","object":{"apiVersion":"example.com\/v1"/)
      await scene.server.close(10_000)
      assert.equal(await watch.next(), undefined)
      assert.equal(scene.shard.watchers, 0)
    })
  }

  it('lets go of a watch when its client leaves', async () => {
    await start(scene)
    const watch = await open(
      'HTTP/2',
      `${scene.server.url}/clusters/root/apis/example.com/v1/widgets?watch=1`,
      as('reader'),
    )
    await create(scene, 'root', 'a')
    await watch.next()
    watch.leave()
    while (scene.shard.watchers > 0) await new Promise(setImmediate)
  })

  it('ends watches when their definition is replaced', async () => {
    const replaced = new AbortController()
    const apis = apiSetOf(scene.shard.apis('root')?.resources ?? [], replaced.signal)
    await start(scene, [{ ...plain(scene), apis: () => apis }])
    const watch = await open(
      'HTTP/1.1',
      `${scene.server.url}/clusters/root/apis/example.com/v1/widgets?watch=1`,
      as('admin'),
    )
    replaced.abort()
    assert.equal(await watch.next(), undefined)
  })

  it('has only lists and watches in the wildcard', async () => {
    await start(scene)
    const text = 'get is not supported on resources of kind "widgets.example.com" in the `*` logical cluster'
    await refused(scene, `/clusters/*${widgets}/a`, 405, text)
  })

  it('has a deadline that clients may shorten', async () => {
    await start(scene, [{ ...plain(scene), authorize: () => new Promise(() => undefined) }])
    await refused(scene, '/clusters/root/api?timeout=1ms', 504, /allotted timeout/, as('reader'))
    const bad = 'invalid timeout specified in the request URL - time: missing unit in duration "5"'
    await refused(scene, '/clusters/root/api?timeout=5', 400, bad)
  })

  it('limits concurrent requests, queues as many, and refuses the others in plain text', async () => {
    const path = '/clusters/root/apis/example.com/v1/widgets'
    const { promise: inside, resolve: entered } = deferred()
    const { promise: gate, resolve: open } = deferred()
    const gated: VirtualWorkspace = {
      ...plain(scene),
      authorize: async () => {
        entered()
        await gate
        return allow('')
      },
    }
    await start(scene, [gated], { limits: { reading: 1, mutating: 1, watching: 1 } })
    const first = get(scene, path, as('reader'))
    await inside
    const next = [get(scene, path, as('reader')), get(scene, path, as('reader'))]
    const late = await Promise.race(next)
    assert.deepEqual([late.status, late.body], [429, 'Too many requests, please try again later.\n'])
    assert.match(late.headers['retry-after'] as string, /^[1-9][0-9]?$/)
    assert.equal(late.headers['content-type'], 'text/plain; charset=utf-8')
    const others = [get(scene, path), get(scene, `${path}?watch=1&timeoutSeconds=1`, as('reader'))]
    const writing = get(scene, `/clusters/root${widgets}`, as('reader', { method: 'POST', body: '{' }))
    open()
    const statuses = (await Promise.all([first, ...others, ...next])).map(reply => reply.status)
    assert.deepEqual(statuses.sort(), [200, 200, 200, 200, 429])
    assert.equal((await writing).status, 400)
    assert.equal((await get(scene, path, as('reader'))).status, 200)
  })

  it('authorizes a watch at its start only (4.58)', async () => {
    let asked = 0
    const counting: VirtualWorkspace = {
      ...plain(scene),
      authorize: async () => allow(String(++asked)),
    }
    await start(scene, [counting])
    const watch = await open(
      'HTTP/1.1',
      `${scene.server.url}/clusters/*/apis/example.com/v1/widgets?watch=1`,
      as('reader'),
    )
    assert.equal(asked, 1)
    for (const name of ['a', 'b']) {
      await create(scene, 'root', name)
      assert.ok((await watch.next())?.includes(`"name":"${name}"`))
    }
    assert.equal(asked, 1)
  })

  describe('views', () => {
    const team = (run?: VirtualWorkspace['run']) =>
      defineVirtualWorkspace('team', '/services/team/:team', ({ backend }) => ({
        apis: ({ team }) => (team === 'blue' ? backend.apis('*') : undefined),
        authorize: async ctx => allow(`${ctx.params.team} is open`),
        ...(run && { run }),
      }))

    it('are found by their path and authorize for themselves', async () => {
      await start(scene, [team()(host(scene)), plain(scene)])
      await create(scene, 'root', 'a')
      const { json } = await get(
        scene,
        '/services/team/blue/clusters/*/apis/example.com/v1/widgets',
        as('nobody-knows', { headers: {} }),
      )
      assert.equal(json.code, 401)
      const open = await get(scene, '/services/team/blue/clusters/*/apis/example.com/v1/widgets', {})
      assert.equal(open.json.items.length, 1)
      await refused(scene, '/services/team/red/clusters/*/api/v1/pods', 404, /could not find/, {})
      await refused(scene, '/services/team/blue/clusters/root/healthz', 404, /could not find/, {})
      await refused(scene, '/services/team/blue/clusters/root:team/api', 403, /Path not resolved/, {})
    })

    it('answer 503 until they are ready, and are named in readyz', async () => {
      let ready: () => void = () => undefined
      const run: VirtualWorkspace['run'] = (isReady, signal) =>
        new Promise(resolve => {
          ready = isReady
          signal.addEventListener('abort', () => resolve())
        })
      await start(scene, [team(run)(host(scene)), plain(scene)])
      const before = await get(scene, '/services/team/blue/clusters/*/api', {})
      assert.equal(before.json.message, 'team virtual workspace controllers are not started')
      assert.equal(before.headers['retry-after'], '1')
      assert.match((await get(scene, '/readyz', {})).body, /\[-\]team failed/)
      ready()
      assert.equal((await get(scene, '/services/team/blue/clusters/*/api', {})).status, 200)
      assert.equal((await get(scene, '/readyz/team', {})).body, 'ok')
    })

    it('say how their URL continues', async () => {
      await start(scene, [team()(host(scene)), plain(scene)])
      for (const [path, hint] of [
        [
          '/services/team/blue',
          'the URL of a view continues with /clusters/* or /clusters/<name of a logical cluster>',
        ],
        [
          '/services/team/blue/api/v1',
          'the URL of a view continues with /clusters/* or /clusters/<name of a logical cluster>',
        ],
        [
          '/services/team/blue/clusters/root:org/api',
          'the URL of a view has * or the name of a logical cluster after /clusters/, not "root:org"',
        ],
      ] as const) {
        const { status, json } = await get(scene, path, as('reader'))
        assert.deepEqual([status, json.message.endsWith(`workspace: ${hint}`)], [403, true], json.message)
      }
    })

    it('have a line in readyz, also those without controllers', async () => {
      await start(scene, [team()(host(scene)), plain(scene)])
      const { body } = await get(scene, '/readyz?verbose', {})
      assert.equal(body, '[+]ping ok\n[+]shutdown ok\n[+]team ok\nreadyz check passed\n')
    })

    it('must not be ambiguous', async () => {
      await start(scene)
      await assert.rejects(
        createServerWith([plain(scene), plain(scene)]),
        /^Error: duplicate virtual workspace ""$/,
      )
      const other = defineVirtualWorkspace('other', '/services/:any/:thing', () => ({
        apis: () => undefined,
      }))
      const message =
        'Error: virtual workspaces "team" and "other" have ambiguous paths: "/services/team/:team" and "/services/:any/:thing"'
      await assert.rejects(
        createServerWith([team()(host(scene)), other(host(scene))]),
        e => String(e) === message,
      )
    })

    const createServerWith = async (workspaces: readonly VirtualWorkspace[]): Promise<void> => {
      const first = scene.server
      try {
        await start(scene, workspaces)
        await scene.server.close(0)
      } finally {
        scene.server = first
      }
    }
  })

  it('survives whatever is in a URL', async () => {
    await start(scene)
    const piece = fc.constantFrom(
      ...[
        'clusters',
        'root',
        '*',
        'root:team',
        'services',
        'api',
        'apis',
        'v1',
        'example.com',
        'widgets',
        'watch',
      ],
      ...['namespaces', 'default', 'status', 'openapi', 'v3', 'readyz', 'version', 'metrics'],
      ...[
        '%2F',
        '%2e%2e',
        '..',
        '.',
        '%00',
        '%zz',
        '%',
        '',
        '%C3%28',
        'a'.repeat(300),
        ':',
        '~',
        '{}',
        '(.*)',
      ],
    )
    const query = fc.constantFrom(
      '',
      '?',
      '?limit=x',
      '?watch=0&fieldSelector=%',
      '?labelSelector=((',
      '?hash=%',
      '?continue=x',
    )
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD')
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), query, method, async (pieces, asked, verb) => {
        const path = `/${pieces.join('/')}${asked}`
        if (path.includes('/watch/')) return
        const { status, json } = await get(scene, path, as('admin', { method: verb }))
        // Kubernetes' metrics are those of the shard, and 501 in a workspace.
        const isMetrics = status === 501 && /\/metrics(\?|$)/.test(path)
        assert.ok(status < 500 || isMetrics, `${verb} ${path}: ${status}`)
        if (status >= 400 && json !== undefined) assert.equal(json.code, status)
      }),
      { numRuns: 300 },
    )
  })
})
