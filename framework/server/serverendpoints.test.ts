import assert from 'node:assert/strict'
import { as, get, refused, serving, start } from '../testing/serving.ts'

describe('a server', () => {
  const scene = serving()

  describe('discovery', () => {
    it('is unaggregated by default', async () => {
      await start(scene)
      const { json, headers } = await get(scene, '/clusters/root/apis/example.com/v1')
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
      assert.deepEqual((await get(scene, '/clusters/root/api')).json, {
        kind: 'APIVersions',
        versions: ['v1'],
        serverAddressByClientCIDRs: [
          { clientCIDR: '0.0.0.0/0', serverAddress: scene.server.url.slice('https://'.length) },
        ],
      })
      assert.equal((await get(scene, '/clusters/root/apis/example.com/')).json.preferredVersion.version, 'v1')
      await refused(scene, '/clusters/root/api/v1', 404, /could not find/)
      assert.deepEqual((await get(scene, '/clusters/root')).json.paths.slice(0, 3), [
        '/api',
        '/apis',
        '/apis/example.com',
      ])
      await refused(scene, '/clusters/root/apis/other', 404, /could not find/)
      await refused(scene, '/clusters/root/apis/example.com/v2', 404, /could not find/)
      await refused(scene, '/clusters/root/api/v2', 404, /could not find/)
    })

    it('is aggregated for clients that accept it', async () => {
      await start(scene)
      const clause = (v: string) => `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`
      const accept = `${clause('v2')},${clause('v2beta1')},application/json`
      const { json, headers } = await get(scene, '/clusters/root/apis', as('admin', { headers: { accept } }))
      assert.equal(headers['content-type'], clause('v2'))
      assert.equal(json.apiVersion, 'apidiscovery.k8s.io/v2')
      assert.deepEqual(json.items[0].versions[0].resources[0].responseKind, {
        group: 'example.com',
        version: 'v1',
        kind: 'Widget',
      })
      const again = await get(
        scene,
        '/clusters/root/apis',
        as('admin', { headers: { accept, 'if-none-match': String(headers.etag) } }),
      )
      assert.equal(again.status, 304)
      assert.equal(again.body, '')
      const beta = await get(
        scene,
        '/clusters/root/api',
        as('admin', { headers: { accept: clause('v2beta1') } }),
      )
      assert.equal(beta.json.apiVersion, 'apidiscovery.k8s.io/v2beta1')
      assert.deepEqual(beta.json.items[0].versions[0].resources, [])
    })
  })

  it('serves OpenAPI documents by their hash', async () => {
    await start(scene)
    const { json } = await get(scene, '/clusters/root/openapi/v3')
    const url = json.paths['apis/example.com/v1'].serverRelativeURL
    assert.equal(url, '/openapi/v3/apis/example.com/v1?hash=ABC')
    const document = await get(scene, `/clusters/root${url}`)
    assert.equal(document.json.openapi, '3.0.0')
    assert.equal(document.headers['cache-control'], 'public, immutable')
    const stale = await get(scene, '/clusters/root/openapi/v3/apis/example.com/v1?hash=OLD')
    assert.equal(stale.status, 301)
    const base = `${scene.server.url}/clusters/root/openapi/v3/apis/example.com/v1?hash=OLD`
    assert.equal(new URL(String(stale.headers.location), base).href, base.replace('OLD', 'ABC'))
    assert.equal((await get(scene, '/clusters/root/openapi/v2')).json.swagger, '2.0')
    const asked = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
    const protobuf = await get(
      scene,
      '/clusters/root/openapi/v2',
      as('admin', { headers: { accept: asked } }),
    )
    assert.equal(protobuf.headers['content-type'], asked.replace('@', '.'))
    const xml = as('admin', { headers: { accept: 'application/xml' } })
    await refused(scene, '/clusters/root/openapi/v2', 406, /media types/, xml)
    await refused(scene, '/clusters/root/openapi/v3/apis/other/v1', 404, /could not find/)
  })

  describe('its own endpoints', () => {
    it('serve health and version without credentials', async () => {
      await start(scene, undefined, { checks: [{ name: 'store', healthy: () => false }] })
      const anyone = {}
      assert.equal((await get(scene, '/livez', anyone)).body, 'ok')
      assert.equal((await get(scene, '/clusters/anything/healthz', anyone)).body, 'ok')
      assert.equal((await get(scene, '/readyz', anyone)).status, 500)
      const lines = '[+]ping ok\n[+]shutdown ok\n[-]store failed: reason withheld\nreadyz check failed\n'
      assert.equal((await get(scene, '/readyz', anyone)).body, lines)
      const excluded = await get(scene, '/readyz?exclude=store&exclude=x&verbose', anyone)
      assert.equal(
        excluded.body,
        '[+]ping ok\n[+]shutdown ok\n[+]store excluded: ok\nwarn: some health checks cannot be excluded: no matches for "x"\nreadyz check passed\n',
      )
      assert.equal((await get(scene, '/readyz/ping', anyone)).body, 'ok')
      assert.equal((await get(scene, '/readyz/none', anyone)).status, 404)
      assert.match((await get(scene, '/version', anyone)).json.gitVersion, /^v1\.\d+\.\d+\+oriel-v0\.1\.0$/)
    })

    it('refuse wrong credentials', async () => {
      await start(scene)
      for (const path of ['/livez', '/healthz', '/readyz', '/version', '/clusters/root/version'])
        await refused(scene, path, 401, 'Unauthorized', as('nobody-knows'))
    })

    it('serve metrics to system:masters', async () => {
      await start(scene)
      await get(scene, '/clusters/root/apis/example.com/v1/widgets')
      const { body, headers } = await get(scene, '/metrics')
      assert.match(String(headers['content-type']), /^text\/plain/)
      assert.match(body, /apiserver_request_total\{verb="LIST",.*resource="widgets".*\} [1-9]/)
      assert.match((await get(scene, '/metrics', as('reader'))).body, /^# HELP/)
      await refused(
        scene,
        '/metrics',
        403,
        'forbidden: User "system:anonymous" cannot get path "/metrics": access denied',
        {},
      )
    })
  })
})
