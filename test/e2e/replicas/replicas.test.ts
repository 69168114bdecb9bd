import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '../../support/client.ts'
import { notRun } from '../../support/notrun.ts'
import { eventually, type Oriel } from '../../support/oriel.ts'
import { etcdProgram, noEtcd } from '../../support/servers/etcd.ts'
import { leaderOf, type Replicas, startReplicas } from '../../support/servers/replicas.ts'

const configMaps = '/clusters/root/api/v1/namespaces/default/configmaps'
const workspaces = '/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces'

const configMap = (name: string, data: Readonly<Record<string, string>> = {}) => ({
  method: 'POST',
  body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data },
})

const workspace = (name: string) => ({
  method: 'POST',
  body: { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name }, spec: {} },
})

if (etcdProgram() === undefined) notRun('replicas', noEtcd)
else
  describe('two servers over one etcd', function () {
    this.timeout(180_000)
    let replicas: Replicas
    let a: Client
    let b: Client
    before(async () => {
      replicas = await startReplicas(2)
      const [first, second] = replicas.clients
      assert.ok(first && second)
      ;[a, b] = [first, second]
      await eventually(
        () => a('/clusters/root/api/v1/namespaces/default'),
        ({ status }) => status === 200,
      )
    })
    after(() => replicas.close())

    const serverOf = (client: Client): Oriel => replicas.servers[client === a ? 0 : 1] as Oriel

    /** Whether a server runs the controllers. */
    const leads = (client: Client): boolean =>
      serverOf(client).output().lastIndexOf('this server runs the controllers') >= 0

    it('share keys and tokens, which were made once', async () => {
      for (const name of ['sa.key', 'ca.key', 'ca.crt', 'installation']) {
        const [own, other] = await Promise.all(
          replicas.servers.map(({ directory }) => readFile(join(directory, name), 'utf8')),
        )
        assert.equal(own, other, name)
      }
      const elsewhere = a.at(serverOf(b).url)
      assert.equal((await elsewhere(configMaps)).status, 200)
    })

    it('show each write to readers of the other server at once', async () => {
      for (let i = 0; i < 40; i++) {
        const [writer, reader] = i % 2 === 0 ? [a, b] : [b, a]
        const created = await writer(configMaps, configMap(`seen-${i}`))
        assert.equal(created.status, 201, created.text)
        const read = await reader(`${configMaps}/seen-${i}`)
        assert.equal(read.status, 200, read.text)
        assert.equal(read.json().metadata.resourceVersion, created.json().metadata.resourceVersion)
        const listed = (await reader(configMaps)).json().items ?? []
        assert.ok(listed.some(({ metadata }) => metadata.name === `seen-${i}`))
        const body = { ...read.json(), data: { i: String(i) } }
        assert.equal((await reader(`${configMaps}/seen-${i}`, { method: 'PUT', body })).status, 200)
        assert.equal((await writer(`${configMaps}/seen-${i}`, { method: 'DELETE' })).status, 200)
        assert.equal((await reader(`${configMaps}/seen-${i}`)).status, 404)
      }
    })

    it('let one of two conflicting writes win', async () => {
      const created = (await a(configMaps, configMap('contested'))).json()
      const put = (client: Client, by: string) =>
        client(`${configMaps}/contested`, { method: 'PUT', body: { ...created, data: { by } } })
      const statuses = (await Promise.all([put(a, 'a'), put(b, 'b')])).map(({ status }) => status)
      assert.deepEqual(statuses.sort(), [200, 409])
    })

    it('continue a watch of the other server, without a lost or repeated event', async () => {
      const { resourceVersion = '' } = (await a(configMaps)).json().metadata
      const names = Array.from({ length: 40 }, (_, i) => `moved-${i}`)
      const writing = (async () => {
        for (const [i, name] of names.entries()) await (i % 2 === 0 ? a : b)(configMaps, configMap(name))
      })()
      const seen: string[] = []
      let version = resourceVersion
      for (let turn = 0; seen.length < names.length; turn++) {
        const stream = await (turn % 2 === 0 ? a : b).watch(
          `${configMaps}?watch=1&allowWatchBookmarks=true&resourceVersion=${version}`,
        )
        for (let i = 0; i < 7 && seen.length < names.length; i++) {
          const frame = await stream.next()
          assert.ok(frame !== undefined && frame.type !== 'ERROR', JSON.stringify(frame))
          version = frame.object.metadata.resourceVersion ?? ''
          if (frame.type === 'ADDED') seen.push(frame.object.metadata.name ?? '')
        }
        stream.leave()
      }
      await writing
      assert.deepEqual(seen, names)
    })

    it('continue a list of the other server, also if its tokens are encrypted', async () => {
      for (const name of ['page-a', 'page-b', 'page-c'])
        assert.equal((await a(configMaps, configMap(name))).status, 201)
      const where = encodeURIComponent("object.metadata.name.startsWith('page-')")
      const page = async (client: Client, token: string) => {
        const path = '/services/query/clusters/root/api/v1/namespaces/default/configmaps'
        const { status, text, json } = await client(`${path}?limit=1&where=${where}&continue=${token}`)
        assert.equal(status, 200, text)
        return json()
      }
      const names: (string | undefined)[] = []
      let token = ''
      for (const client of [a, b, a]) {
        const { items = [], metadata } = await page(client, token)
        names.push(...items.map(({ metadata: { name } }) => name))
        token = metadata.continue ?? ''
      }
      assert.deepEqual(names, ['page-a', 'page-b', 'page-c'])
    })

    it('run controllers in one of them, and hand over when it stops', async () => {
      const ready = async (client: Client, name: string): Promise<void> => {
        assert.equal((await client(workspaces, workspace(name))).status, 201)
        await eventually(
          async () => (await client(`${workspaces}/${name}`)).json<{ status?: { phase?: string } }>(),
          ({ status }) => status?.phase === 'Ready',
        )
      }
      await ready(a, 'team1')
      assert.notEqual(leads(a), leads(b))
      const [leader, follower] = leads(a) ? [a, b] : [b, a]
      const first = await leaderOf(serverOf(follower))
      assert.notEqual(first, '')
      await serverOf(leader).stop()
      await ready(follower, 'team2')
      assert.notEqual(await leaderOf(serverOf(follower)), first)
      await serverOf(leader).restart()
      await serverOf(follower).kill()
      await ready(leader, 'team3')
      await serverOf(follower).restart()
    })

    it('keep acknowledged writes when etcd is killed', async () => {
      const name = (i: number): string => `durable-${i}`
      const written: string[] = []
      for (let i = 0; i < 30; i++) {
        const restarting = i === 10 ? replicas.etcd.restart() : undefined
        const { status } = await (i % 2 === 0 ? a : b)(configMaps, configMap(name(i)))
        if (status === 201) written.push(name(i))
        await restarting
      }
      const found = new Set(((await b(configMaps)).json().items ?? []).map(({ metadata }) => metadata.name))
      assert.deepEqual(
        written.filter(each => !found.has(each)),
        [],
      )
      assert.ok(written.length > 25, `${written.length} writes`)
    })

    it('are not ready while etcd does not answer, but answer reads of any state', async () => {
      await replicas.etcd.pause()
      try {
        const { status, text } = await a('/readyz')
        assert.equal(status, 500)
        assert.match(text, /\[-\]etcd failed/)
        assert.equal((await a(`${configMaps}?resourceVersion=0`)).status, 200)
      } finally {
        replicas.etcd.resume()
      }
      await eventually(
        () => a('/readyz'),
        ({ status }) => status === 200,
      )
    })
  })
