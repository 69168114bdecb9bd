import assert from 'node:assert/strict'
import fc from 'fast-check'
import { issueClient } from '../test/support/clientcertificates.ts'
import { createTinyShard, type TinyShard, widget } from '../test/support/tinyshard.ts'
import {
  ask,
  open,
  type Protocol,
  protocols,
  testCertificates,
  type WireRequest,
} from '../test/support/wire.ts'
import { apiSetOf } from './apis.ts'
import { bearerTokens, clientCertificates, union } from './authn/index.ts'
import { allow } from './authorizer.ts'
import type { OpenApiDocuments } from './discovery/documents.ts'
import { createInformers } from './informers.ts'
import { silent } from './log.ts'
import { createMetrics } from './metrics.ts'
import { pathPattern } from './request/path.ts'
import { createServer, type Server, type ServerOptions } from './server.ts'
import { versionInfo } from './version.ts'
import { defineVirtualWorkspace, type VirtualWorkspace } from './workspace.ts'

const metrics = createMetrics()
const documents: OpenApiDocuments = {
  index: () => new Map([['apis/example.com/v1', 'ABC']]),
  v3: () => ({ bytes: Buffer.from('{"openapi":"3.0.0"}'), etag: 'ABC' }),
  v2: () => ({ bytes: Buffer.from('{"swagger":"2.0"}'), etag: 'DEF' }),
  v2Protobuf: () => ({ bytes: Buffer.from('{"swagger":"2.0"}'), etag: 'DEF' }),
}
const tokens: Readonly<Record<string, readonly string[]>> = {
  admin: ['system:masters'],
  reader: [],
  crash: [],
}
const users = bearerTokens(async token =>
  tokens[token] === undefined
    ? undefined
    : { user: { name: token, groups: [...tokens[token], 'system:authenticated'] } },
)
const as = (token: string, more: WireRequest = {}): WireRequest => ({
  ...more,
  headers: { authorization: `Bearer ${token}`, ...more.headers },
})

describe('a server', () => {
  let shard: TinyShard
  let server: Server
  let stop: AbortController

  const host = () => ({ backend: shard, informers: createInformers(shard, silent, stop.signal), log: silent })
  const plain = (): VirtualWorkspace => ({
    name: '',
    path: pathPattern(''),
    apis: (_, cluster) => shard.apis(cluster),
  })

  async function start(
    workspaces: readonly VirtualWorkspace[] = [plain()],
    more: Partial<ServerOptions> = {},
  ): Promise<Server> {
    server = await createServer({
      host: '127.0.0.1',
      port: 0,
      tls: testCertificates().tls,
      workspaces,
      ...host(),
      authenticator: union(clientCertificates(), users),
      documents,
      version: versionInfo({ version: '0.1.0', commit: 'abc', date: '2026-01-01T00:00:00Z' }),
      metrics,
      checks: [],
      ...more,
    })
    return server
  }
  const get = async (path: string, wanted: WireRequest = as('admin'), protocol: Protocol = 'HTTP/1.1') => {
    const reply = await ask(protocol, `${server.url}${path}`, wanted)
    const json = String(reply.headers['content-type']).startsWith('application/json') && reply.body !== ''
    return { ...reply, json: json ? JSON.parse(reply.body) : undefined }
  }
  const refused = async (path: string, code: number, message: string | RegExp, wanted = as('admin')) => {
    const { status, json } = await get(path, wanted)
    assert.equal(json?.kind, 'Status', path)
    if (typeof message === 'string') assert.equal(json.message, message)
    else assert.match(json.message, message)
    assert.equal(status, code)
    assert.equal(json.code, code)
  }

  beforeEach(() => {
    stop = new AbortController()
    shard = createTinyShard()
  })
  afterEach(async () => {
    stop.abort()
    await server.close(0)
  })

  const widgets = '/apis/example.com/v1/namespaces/default/widgets'
  const create = (cluster: string, name: string) =>
    get(
      `/clusters/${cluster}${widgets}`,
      as('admin', { method: 'POST', body: JSON.stringify(widget('default', name)) }),
    )

  for (const protocol of protocols) {
    it(`serves objects over ${protocol}`, async () => {
      await start()
      const created = await ask(
        protocol,
        `${server.url}/clusters/root:team${widgets}`,
        as('admin', { method: 'POST', body: JSON.stringify(widget('default', 'a')) }),
      )
      assert.equal(created.status, 201, created.body)
      const { json } = await get('/clusters/*/apis/example.com/v1/widgets', as('admin'), protocol)
      assert.equal(json.kind, 'WidgetList')
      assert.equal(json.items[0].metadata.annotations['kcp.io/cluster'], 'team')
    })

    it(`streams watches over ${protocol} until the server stops`, async () => {
      await start()
      const watch = await open(
        protocol,
        `${server.url}/clusters/*/apis/example.com/v1/widgets?watch=1`,
        as('reader'),
      )
      assert.equal(watch.status, 200)
      await create('root', 'a')
      assert.match((await watch.next()) ?? '', /^{"type":"ADDED","object":{"apiVersion":"example.com\/v1"/)
      await server.close(10_000)
      assert.equal(await watch.next(), undefined)
      assert.equal(shard.watchers, 0)
    })
  }

  it('lets go of a watch when its client leaves', async () => {
    await start()
    const watch = await open(
      'HTTP/2',
      `${server.url}/clusters/root/apis/example.com/v1/widgets?watch=1`,
      as('reader'),
    )
    await create('root', 'a')
    await watch.next()
    watch.leave()
    while (shard.watchers > 0) await new Promise(setImmediate)
  })

  it('ends watches when the definition they look at is replaced', async () => {
    const replaced = new AbortController()
    const apis = apiSetOf(shard.apis('root')?.resources ?? [], replaced.signal)
    await start([{ ...plain(), apis: () => apis }])
    const watch = await open(
      'HTTP/1.1',
      `${server.url}/clusters/root/apis/example.com/v1/widgets?watch=1`,
      as('admin'),
    )
    replaced.abort()
    assert.equal(await watch.next(), undefined)
  })

  it('answers authentication first, then authorization, then what there is', async () => {
    await start()
    await refused('/clusters/root/apis/nothing/v1/here', 401, 'Unauthorized', as('wrong'))
    await refused(
      '/clusters/root/api/v1/namespaces/ns/secrets/s',
      403,
      'secrets "s" is forbidden: User "system:anonymous" cannot get resource "secrets" in API group "" in the namespace "ns": access denied',
      {},
    )
    await refused(
      '/clusters/root/apis/a.b/v1/cows',
      403,
      'cows.a.b is forbidden: User "reader" cannot create resource "cows" in API group "a.b" at the cluster scope: access denied',
      as('reader', { method: 'POST' }),
    )
    await refused(
      '/clusters/root/a<b',
      403,
      'forbidden: User "system:anonymous" cannot get path "/a&lt;b": access denied',
      {},
    )
    await refused(
      '/clusters/root/apis/a.b/v1/cows',
      404,
      'the server could not find the requested resource',
      as('reader'),
    )
    await refused('/clusters/none/api', 404, /could not find/)
  })

  it('fails closed when the authorizer fails', async () => {
    await start()
    await refused(
      `/clusters/root${widgets}`,
      500,
      /^Internal error occurred: an unexpected error/,
      as('crash'),
    )
  })

  it('acts as whom the headers name, and never with all rights where they name nobody', async () => {
    await start()
    const named = (headers: Record<string, string>) => as('admin', { headers })
    for (const protocol of protocols) {
      const { status } = await get('/clusters/root/api', named({ 'impersonate-user': 'crash' }), protocol)
      assert.equal(status, 500, 'the authorizer fails for that user')
    }
    await refused(
      '/clusters/root/api',
      400,
      /without impersonating a user name/,
      named({ 'impersonate-group': 'devs' }),
    )
    await refused(
      '/metrics',
      403,
      'forbidden: impersonation is not allowed for the requestor',
      named({ 'impersonate-user': 'reader' }),
    )
  })

  it('believes certificates of its authority and refuses others', async () => {
    await start()
    const { authority } = testCertificates()
    const client = await issueClient(authority, { subject: 'CN=root, O=system:masters' })
    for (const protocol of protocols)
      assert.equal((await get('/clusters/root/api', { client }, protocol)).status, 200)
    const other = await issueClient(authority, { subject: 'CN=root, O=system:masters', hours: -1 })
    await refused('/clusters/root/api', 401, 'Unauthorized', { client: other })
  })

  it('resolves workspace paths and refuses what is no cluster', async () => {
    await start()
    await create('root:team', 'a')
    assert.equal((await get(`/clusters/team${widgets}/a`)).status, 200)
    await refused('/clusters/root:gone/api', 404, 'workspaces.tenancy.kcp.io "root:gone" not found')
    await refused(
      '/clusters/root:team:gone/api',
      404,
      'workspaces.tenancy.kcp.io "root:team:gone" not found',
      as('reader'),
    )
    const denied = 'forbidden: User "system:anonymous" cannot get path "/api": access denied'
    for (const path of ['root:team', 'root:gone', 'root:team:gone', 'gone:gone'])
      await refused(`/clusters/${path}/api`, 403, denied, {})
    await refused('/clusters/Ro_ot/api', 400, 'invalid cluster: "Ro_ot" does not match the regex')
  })

  it('has only lists and watches in the wildcard', async () => {
    await start()
    const text = 'get is not supported on resources of kind "widgets.example.com" in the `*` logical cluster'
    await refused(`/clusters/*${widgets}/a`, 405, text)
  })

  it('keeps URLs without a cluster for the privileged', async () => {
    await start()
    assert.equal((await get('/apis')).json.groups[0].name, 'example.com')
    await refused(
      '/apis',
      403,
      'forbidden: User "reader" cannot get path "/apis": access denied',
      as('reader'),
    )
    const services = '/services/apiexport/root/x/clusters/*/api/v1/pods'
    const path = `forbidden: User "reader" cannot get path "${services}": Path not resolved to a valid virtual workspace`
    await refused(services, 403, path, as('reader'))
    await refused(services, 404, /could not find/)
  })

  it('has a deadline that clients may shorten', async () => {
    await start([{ ...plain(), authorize: () => new Promise(() => undefined) }])
    await refused('/clusters/root/api?timeout=1ms', 504, /allotted timeout/, as('reader'))
    const bad = 'invalid timeout specified in the request URL - time: missing unit in duration "5"'
    await refused('/clusters/root/api?timeout=5', 400, bad)
  })

  describe('discovery', () => {
    it('is legacy for who asks for nothing else', async () => {
      await start()
      const { json, headers } = await get('/clusters/root/apis/example.com/v1')
      assert.equal(headers.vary, 'Accept')
      assert.deepEqual(
        json.resources.map((r: { name: string }) => r.name),
        ['widgets', 'widgets/scale', 'widgets/status'],
      )
      assert.deepEqual(json.resources[1], {
        name: 'widgets/scale',
        singularName: '',
        namespaced: true,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: ['get'],
      })
      assert.deepEqual((await get('/clusters/root/api')).json, {
        kind: 'APIVersions',
        versions: ['v1'],
        serverAddressByClientCIDRs: [
          { clientCIDR: '0.0.0.0/0', serverAddress: server.url.slice('https://'.length) },
        ],
      })
      assert.equal((await get('/clusters/root/apis/example.com/')).json.preferredVersion.version, 'v1')
      await refused('/clusters/root/api/v1', 404, /could not find/)
      assert.deepEqual((await get('/clusters/root')).json.paths.slice(0, 3), [
        '/api',
        '/apis',
        '/apis/example.com',
      ])
      await refused('/clusters/root/apis/other', 404, /could not find/)
      await refused('/clusters/root/apis/example.com/v2', 404, /could not find/)
      await refused('/clusters/root/api/v2', 404, /could not find/)
    })

    it('is aggregated for clients that know it', async () => {
      await start()
      const clause = (v: string) => `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`
      const accept = `${clause('v2')},${clause('v2beta1')},application/json`
      const { json, headers } = await get('/clusters/root/apis', as('admin', { headers: { accept } }))
      assert.equal(headers['content-type'], clause('v2'))
      assert.equal(json.apiVersion, 'apidiscovery.k8s.io/v2')
      assert.deepEqual(json.items[0].versions[0].resources[0].responseKind, {
        group: 'example.com',
        version: 'v1',
        kind: 'Widget',
      })
      const again = await get(
        '/clusters/root/apis',
        as('admin', { headers: { accept, 'if-none-match': String(headers.etag) } }),
      )
      assert.equal(again.status, 304)
      assert.equal(again.body, '')
      const beta = await get('/clusters/root/api', as('admin', { headers: { accept: clause('v2beta1') } }))
      assert.equal(beta.json.apiVersion, 'apidiscovery.k8s.io/v2beta1')
      assert.deepEqual(beta.json.items[0].versions[0].resources, [])
    })
  })

  it('serves OpenAPI documents by their hash', async () => {
    await start()
    const { json } = await get('/clusters/root/openapi/v3')
    const url = json.paths['apis/example.com/v1'].serverRelativeURL
    assert.equal(url, '/openapi/v3/apis/example.com/v1?hash=ABC')
    const document = await get(`/clusters/root${url}`)
    assert.equal(document.json.openapi, '3.0.0')
    assert.equal(document.headers['cache-control'], 'public, immutable')
    const stale = await get('/clusters/root/openapi/v3/apis/example.com/v1?hash=OLD')
    assert.equal(stale.status, 301)
    const base = `${server.url}/clusters/root/openapi/v3/apis/example.com/v1?hash=OLD`
    assert.equal(new URL(String(stale.headers.location), base).href, base.replace('OLD', 'ABC'))
    assert.equal((await get('/clusters/root/openapi/v2')).json.swagger, '2.0')
    const asked = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
    const protobuf = await get('/clusters/root/openapi/v2', as('admin', { headers: { accept: asked } }))
    assert.equal(protobuf.headers['content-type'], asked.replace('@', '.'))
    const xml = as('admin', { headers: { accept: 'application/xml' } })
    await refused('/clusters/root/openapi/v2', 406, /media types/, xml)
    await refused('/clusters/root/openapi/v3/apis/other/v1', 404, /could not find/)
  })

  describe('its own endpoints', () => {
    it('tell everybody about health and version', async () => {
      await start(undefined, { checks: [{ name: 'store', healthy: () => false }] })
      const anyone = {}
      assert.equal((await get('/livez', anyone)).body, 'ok')
      assert.equal((await get('/clusters/anything/healthz', anyone)).body, 'ok')
      assert.equal((await get('/readyz', anyone)).status, 500)
      const lines = '[+]ping ok\n[+]shutdown ok\n[-]store failed: reason withheld\nreadyz check failed\n'
      assert.equal((await get('/readyz', anyone)).body, lines)
      const excluded = await get('/readyz?exclude=store&exclude=x&verbose', anyone)
      assert.equal(
        excluded.body,
        '[+]ping ok\n[+]shutdown ok\n[+]store excluded: ok\nwarn: some health checks cannot be excluded: no matches for "x"\nreadyz check passed\n',
      )
      assert.equal((await get('/readyz/ping', anyone)).body, 'ok')
      assert.equal((await get('/readyz/none', anyone)).status, 404)
      assert.match((await get('/version', anyone)).json.gitVersion, /^v1\.\d+\.\d+\+oriel-v0\.1\.0$/)
    })

    it('tell nobody with wrong credentials', async () => {
      await start()
      for (const path of ['/livez', '/healthz', '/readyz', '/version', '/clusters/root/version'])
        await refused(path, 401, 'Unauthorized', as('nobody-knows'))
    })

    it('tell the privileged about metrics', async () => {
      await start()
      await get('/clusters/root/apis/example.com/v1/widgets')
      const { body, headers } = await get('/metrics')
      assert.match(String(headers['content-type']), /^text\/plain/)
      assert.match(body, /apiserver_request_total\{verb="LIST",.*resource="widgets".*\} [1-9]/)
      assert.match((await get('/metrics', as('reader'))).body, /^# HELP/)
      await refused(
        '/metrics',
        403,
        'forbidden: User "system:anonymous" cannot get path "/metrics": access denied',
        {},
      )
    })
  })

  it('lets only so many in, and says so in plain text', async () => {
    const path = '/clusters/root/apis/example.com/v1/widgets'
    let entered: () => void = () => undefined
    let open: () => void = () => undefined
    const inside = new Promise<void>(resolve => {
      entered = resolve
    })
    const gate = new Promise<void>(resolve => {
      open = resolve
    })
    const gated: VirtualWorkspace = {
      ...plain(),
      authorize: async () => {
        entered()
        await gate
        return allow('')
      },
    }
    await start([gated], { inflight: { reading: 1, mutating: 1 } })
    const first = get(path, as('reader'))
    await inside
    const late = await get(path, as('reader'))
    assert.deepEqual([late.status, late.body], [429, 'Too many requests, please try again later.\n'])
    assert.deepEqual(
      [late.headers['retry-after'], late.headers['content-type']],
      ['1', 'text/plain; charset=utf-8'],
    )
    const others = [get(path), get(`${path}?watch=1&timeoutSeconds=1`, as('reader'))]
    const writing = get(`/clusters/root${widgets}`, as('reader', { method: 'POST', body: '{' }))
    open()
    assert.deepEqual(
      (await Promise.all([first, ...others])).map(reply => reply.status),
      [200, 200, 200],
    )
    assert.equal((await writing).status, 400)
    assert.equal((await get(path, as('reader'))).status, 200)
  })

  it('asks whether somebody may watch at the start of the watch only (4.58)', async () => {
    let asked = 0
    const counting: VirtualWorkspace = {
      ...plain(),
      authorize: async () => allow(String(++asked)),
    }
    await start([counting])
    const watch = await open(
      'HTTP/1.1',
      `${server.url}/clusters/*/apis/example.com/v1/widgets?watch=1`,
      as('reader'),
    )
    assert.equal(asked, 1)
    for (const name of ['a', 'b']) {
      await create('root', name)
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
      await start([team()(host()), plain()])
      await create('root', 'a')
      const { json } = await get(
        '/services/team/blue/clusters/*/apis/example.com/v1/widgets',
        as('nobody-knows', { headers: {} }),
      )
      assert.equal(json.code, 401)
      const open = await get('/services/team/blue/clusters/*/apis/example.com/v1/widgets', {})
      assert.equal(open.json.items.length, 1)
      await refused('/services/team/red/clusters/*/api/v1/pods', 404, /could not find/, {})
      await refused('/services/team/blue/clusters/root/healthz', 404, /could not find/, {})
      await refused('/services/team/blue/clusters/root:team/api', 403, /Path not resolved/, {})
    })

    it('answer 503 until they are ready, and are named in readyz', async () => {
      let ready: () => void = () => undefined
      const run: VirtualWorkspace['run'] = (isReady, signal) =>
        new Promise(resolve => {
          ready = isReady
          signal.addEventListener('abort', () => resolve())
        })
      await start([team(run)(host()), plain()])
      const before = await get('/services/team/blue/clusters/*/api', {})
      assert.equal(before.json.message, 'team virtual workspace controllers are not started')
      assert.equal(before.headers['retry-after'], '1')
      assert.match((await get('/readyz', {})).body, /\[-\]team failed/)
      ready()
      assert.equal((await get('/services/team/blue/clusters/*/api', {})).status, 200)
      assert.equal((await get('/readyz/team', {})).body, 'ok')
    })

    it('may not contradict each other', async () => {
      await start()
      await assert.rejects(createServerWith([plain(), plain()]), /^Error: duplicate virtual workspace ""$/)
      const other = defineVirtualWorkspace('other', '/services/:any/:thing', () => ({
        apis: () => undefined,
      }))
      const message =
        'Error: virtual workspaces "team" and "other" have ambiguous paths: "/services/team/:team" and "/services/:any/:thing"'
      await assert.rejects(createServerWith([team()(host()), other(host())]), e => String(e) === message)
    })

    const createServerWith = async (workspaces: readonly VirtualWorkspace[]): Promise<void> => {
      const first = server
      try {
        await start(workspaces)
        await server.close(0)
      } finally {
        server = first
      }
    }
  })

  it('survives whatever is in a URL', async () => {
    await start()
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
        const { status, json } = await get(path, as('admin', { method: verb }))
        assert.ok(status < 500, `${verb} ${path}: ${status}`)
        if (status >= 400 && json !== undefined) assert.equal(json.code, status)
      }),
      { numRuns: 300 },
    )
  })
})
