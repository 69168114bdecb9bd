import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KeyPair } from '../../../cmd/certificates/certificates.ts'
import type { Client } from '../../support/client.ts'
import { compiled, run } from '../../support/oriel.ts'
import {
  type CacheServer,
  startCacheServer,
  testServerLine,
  writeClientAuthority,
} from '../../support/servers/cacheserver.ts'

const exportsAt = (shard: string, cluster: string): string =>
  `/services/cache/shards/${shard}/clusters/${cluster}/apis/apis.kcp.io/v1alpha2/apiexports`

/** A copy as the replication controller of a kcp shard creates it. */
const copyOf = (shard: string, name: string) => ({
  apiVersion: 'apis.kcp.io/v1alpha2',
  kind: 'APIExport',
  metadata: {
    name,
    uid: `11111111-0000-4000-8000-00000000${name.length.toString().padStart(4, '0')}`,
    creationTimestamp: '2026-01-02T03:04:05Z',
    generation: 7,
    annotations: {
      'kcp.io/cluster': 'sent',
      'kcp.io/shard': shard,
      'internal.kcp.io/original-resource-version': '12',
    },
  },
  spec: { unknown: { kept: true } },
  status: { identityHash: 'abc' },
})

interface Shown {
  readonly metadata: {
    readonly name: string
    readonly annotations: Readonly<Record<string, string>>
    readonly [field: string]: unknown
  }
  readonly [field: string]: unknown
}

describe("oriel cache-server with the command line of kcp's sharded test server", function () {
  this.timeout(60_000)
  let folder: string
  let authority: KeyPair
  let server: CacheServer
  let shard: Client
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-cacheserver-'))
    authority = await writeClientAuthority(folder)
    server = await startCacheServer(folder, authority)
    shard = await server.client('CN=cache-client, O=system:masters')
  })
  after(async () => {
    shard.close()
    await server.stop()
    await rm(folder, { recursive: true })
  })

  const post = async (path: string, body: object): Promise<Shown> => {
    const { status, text } = await shard(path, { method: 'POST', body, headers: json })
    assert.equal(status, 201, text)
    return JSON.parse(text)
  }
  const json = { 'content-type': 'application/json' }
  const namesAt = async (path: string): Promise<readonly string[]> => {
    const { status, text } = await shard(path)
    assert.equal(status, 200, text)
    const { items } = JSON.parse(text) as { readonly items: readonly Shown[] }
    return items.map(
      ({ metadata: { annotations, name } }) =>
        `${annotations['kcp.io/shard']}|${annotations['kcp.io/cluster']}/${name}`,
    )
  }

  it('names the flags without effect', () => {
    const ignored = server.output().match(/--[a-z-]+(?= is ignored)/g) ?? []
    const expected = ['--embedded-etcd-client-port', '--embedded-etcd-peer-port', '--synthetic-delay']
    assert.deepEqual(ignored.toSorted(), expected)
  })

  it('keeps the system fields and the content of a copy, and names its shard and logical cluster', async () => {
    const { metadata, spec, status } = await post(exportsAt('amber', 'team'), copyOf('amber', 'kept'))
    const { uid, creationTimestamp, generation, annotations } = metadata
    assert.deepEqual(
      { uid, creationTimestamp, generation },
      {
        uid: '11111111-0000-4000-8000-000000000004',
        creationTimestamp: '2026-01-02T03:04:05Z',
        generation: 7,
      },
    )
    assert.deepEqual(annotations, {
      'internal.kcp.io/original-resource-version': '12',
      'kcp.io/cluster': 'team',
      'kcp.io/shard': 'amber',
    })
    assert.deepEqual({ spec, status }, { spec: { unknown: { kept: true } }, status: { identityHash: 'abc' } })
  })

  it('serves the objects of all shards when one has a malformed copy of a ClusterCachedResource', async () => {
    const place = '/services/cache/shards/sick/clusters/one/apis'
    const annotations = { 'cache.kcp.io/resource-kind': 'A', 'cache.kcp.io/resource-scope': 'Cluster' }
    const status = { identityHash: 'abc' }
    for (const [name, more] of Object.entries({
      none: {},
      number: { spec: 5, status: 7 },
      other: { spec: { version: 1, resource: {} } },
    }))
      await post(`${place}/cache.kcp.io/v1alpha1/clustercachedresources`, {
        apiVersion: 'cache.kcp.io/v1alpha1',
        kind: 'ClusterCachedResource',
        metadata: { name, annotations },
        status,
        ...more,
      })
    const unknown = await shard('/services/cache/shards/amber/clusters/team/apis/example.com/v1/a:abc')
    assert.deepEqual([unknown.status, (await shard(place)).status], [404, 200])
  })

  it('shows the objects of one shard or all, in one logical cluster or all', async () => {
    for (const [place, cluster, name] of [
      ['amber', 'one', 'wild'],
      ['amber', 'two', 'wild'],
      ['blue', 'one', 'wild'],
    ] as const)
      await post(exportsAt(place, cluster), copyOf(place, name))
    const only = '?fieldSelector=metadata.name%3Dwild'
    const all = ['amber|one/wild', 'amber|two/wild', 'blue|one/wild']
    assert.deepEqual(await namesAt(exportsAt('*', '*') + only), all)
    assert.deepEqual(await namesAt(exportsAt('amber', '*') + only), all.slice(0, 2))
    assert.deepEqual(await namesAt(exportsAt('*', 'one') + only), [all[0], all[2]])
    assert.deepEqual(await namesAt(exportsAt('blue', 'one') + only), [all[2]])
    assert.deepEqual(await namesAt(exportsAt('green', '*') + only), [])
  })

  it('sends a watch of one shard in all logical clusters the changes of that shard only', async () => {
    const watch = await shard.watch(`${exportsAt('red', '*')}?watch=true`)
    await post(exportsAt('green', 'one'), copyOf('green', 'other'))
    const { metadata } = await post(exportsAt('red', 'one'), copyOf('red', 'seen'))
    const created = await watch.next()
    assert.deepEqual([created?.type, created?.object.metadata?.name], ['ADDED', 'seen'])
    const changed = { ...copyOf('red', 'seen'), spec: { other: 1 } }
    const { resourceVersion } = metadata
    const body = { ...changed, metadata: { ...changed.metadata, resourceVersion, generation: 8 } }
    const put = await shard(`${exportsAt('red', 'one')}/seen`, { method: 'PUT', body, headers: json })
    assert.equal(put.status, 200, put.text)
    const modified = await watch.next()
    assert.deepEqual([modified?.type, modified?.object.metadata?.generation], ['MODIFIED', 8])
    const conflict = await shard(`${exportsAt('red', 'one')}/seen`, { method: 'PUT', body, headers: json })
    assert.equal(conflict.status, 409, conflict.text)
    assert.equal((await shard(`${exportsAt('red', 'one')}/seen`, { method: 'DELETE' })).status, 200)
    assert.equal((await watch.next())?.type, 'DELETED')
    assert.equal((await shard(`${exportsAt('red', 'one')}/seen`)).status, 404)
    watch.leave()
  })

  it('shows an object in every version of its kind', async () => {
    await post(exportsAt('amber', 'versions'), copyOf('amber', 'both'))
    const path = exportsAt('amber', 'versions').replace('v1alpha2', 'v1alpha1')
    const { status, text } = await shard(`${path}/both`)
    assert.deepEqual([status, JSON.parse(text).apiVersion], [200, 'apis.kcp.io/v1alpha1'])
  })

  it('does not let a shard write to all shards, nor under a malformed name', async () => {
    for (const path of [exportsAt('*', 'one'), exportsAt('amber', '*'), exportsAt('A_B', 'one')]) {
      const { status, text } = await shard(path, {
        method: 'POST',
        body: copyOf('amber', 'x'),
        headers: json,
      })
      assert.ok(status === 400 || status === 405, `${path} ${status} ${text}`)
    }
    const taken = await shard(exportsAt('amber', 'team'), {
      method: 'POST',
      body: copyOf('amber', 'kept'),
      headers: json,
    })
    assert.equal(taken.status, 409, taken.text)
  })

  it('refuses everything to others than members of system:masters, except health checks', async () => {
    const known = await server.client('CN=shard, O=devs')
    const anonymous = await server.client()
    for (const [who, client] of Object.entries({ known, anonymous })) {
      for (const path of [exportsAt('amber', 'team'), exportsAt('*', '*'), '/metrics', '/services/cache'])
        assert.ok([401, 403].includes((await client(path)).status), `${who} ${path}`)
      const body = copyOf('amber', 'stolen')
      const { status } = await client(exportsAt('amber', 'team'), { method: 'POST', body, headers: json })
      assert.ok([401, 403].includes(status), who)
      for (const path of ['/healthz', '/livez', '/readyz'])
        for (const url of [path, `/services/cache${path}`, `/services/cache/shards/amber${path}`]) {
          const { status, text } = await client(url)
          assert.deepEqual([status, text], [200, 'ok'], `${who} ${url}`)
        }
      client.close()
    }
  })

  it('has its objects after a restart', async () => {
    const before = await namesAt(exportsAt('*', '*'))
    assert.equal(await server.stop(), 0)
    server = await startCacheServer(folder, authority)
    shard.close()
    shard = await server.client('CN=cache-client, O=system:masters')
    assert.deepEqual(await namesAt(exportsAt('*', '*')), before)
  })

  describe('ends with one sentence for', () => {
    for (const [what, more, sentence] of [
      ['an unknown flag', '--delay=1s', /^error: unknown option '--delay=1s'\n/],
      [
        'an unknown feature gate',
        '--feature-gates=Nope=true',
        /Neither kcp nor Kubernetes has a feature gate "Nope"\.\n/,
      ],
      [
        'encryption, which the store does not have',
        '--encryption-provider-config=a.yaml',
        /is invalid\. Objects are stored without encryption/,
      ],
      [
        'a missing certificate authority',
        '--client-ca-file=/nowhere/ca.crt',
        /^oriel: \/nowhere\/ca\.crt cannot be read \(ENOENT\): give --client-ca-file a readable file\.\n$/,
      ],
    ] as const)
      it(what, async () => {
        const line = [compiled, 'cache-server', ...testServerLine(join(folder, 'mistakes')), more]
        const { code, stderr } = await run(process.execPath, line)
        assert.equal(code, 1)
        assert.match(stderr.replace(/^\{.*\}\n/gm, ''), sentence)
      })
  })
})
