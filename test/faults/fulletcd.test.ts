import assert from 'node:assert/strict'
import { post } from '../conformance/fixture.ts'
import { type Client, clientOf, type Reply } from '../support/client.ts'
import { notRun } from '../support/notrun.ts'
import { discard, eventually, type Oriel, startOriel } from '../support/oriel.ts'
import { refusalOf } from '../support/refusal.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from '../support/servers/etcd.ts'
import { configAt } from '../support/watcher.ts'

const path = '/clusters/root/api/v1/namespaces/default/configmaps'
const workspaces = '/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces'
const quota = 12 * 2 ** 20

const big = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { text: 'x'.repeat(500_000) },
})
const workspace = (name: string) => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
})

/** What an administrator does: gives free space back to etcd, and ends its alarm. */
async function makeRoom(etcd: Etcd): Promise<void> {
  const { header } = (await etcd.post('kv/range', { key: 'AA==' })) as { header: { revision: string } }
  await etcd.post('kv/compaction', { revision: header.revision, physical: true })
  await etcd.post('maintenance/defragment', {})
  const { alarms } = (await etcd.post('maintenance/alarm', { action: 'GET' })) as {
    alarms: readonly object[]
  }
  for (const alarm of alarms) await etcd.post('maintenance/alarm', { action: 'DEACTIVATE', ...alarm })
}

if (etcdProgram() === undefined) notRun('a full etcd', noEtcd)
else
  describe('servers over an etcd that has reached its quota', function () {
    this.timeout(240_000)
    let etcd: Etcd
    let servers: readonly Oriel[]
    let clients: readonly [Client, Client]
    const created: string[] = []
    let refused: Reply
    let version: string

    before(async () => {
      etcd = await startEtcd(['--quota-backend-bytes', String(quota)])
      const args = ['--store', `etcd://${etcd.endpoint}`]
      const [a, b] = await Promise.all([startOriel({ args }), startOriel({ args })])
      servers = [a, b]
      clients = [await clientOf(configAt(a, a.url)), await clientOf(configAt(b, b.url))]
      // A controller writes it, and watches from a version before it would begin with it.
      await eventually(
        () => clients[0](`${path}/kube-root-ca.crt`),
        ({ status }) => status === 200,
      )
      version = (await clients[0](path)).json().metadata.resourceVersion ?? ''
      for (let i = 0; ; i++) {
        refused = await clients[i % 2 === 0 ? 0 : 1](path, post(big(`big-${i}`)))
        if (refused.status !== 201) break
        created.push(`big-${i}`)
      }
    })
    after(async () => {
      for (const client of clients) client.close()
      await Promise.all(servers.map(discard))
      await etcd.stop()
    })

    const names = async (client: Client): Promise<readonly string[]> => {
      const { items = [] } = (await client(path)).json()
      return items.map(({ metadata }) => metadata.name ?? '').filter(name => name.startsWith('big-'))
    }

    it('get 507 for each write, with what the administrator has to do', async () => {
      assert.ok(created.length > 5, `${created.length} objects`)
      for (const client of clients) {
        const { status, text } = await client(path, post(big('more')))
        assert.equal(status, 507, text)
      }
      const { kind, status, reason, message, code } = refused.json<Record<string, unknown>>()
      assert.deepEqual([kind, status, reason, code], ['Status', 'Failure', 'InsufficientStorage', 507])
      assert.match(
        String(message),
        /etcd has reached its quota \(mvcc: database space exceeded\): only deletions are accepted until an administrator compacts and defragments etcd and disarms its alarm/,
      )
    })

    it('answer reads with every acknowledged write and no other, and let watches begin', async () => {
      for (const client of clients) {
        assert.deepEqual([...(await names(client))].sort(), [...created].sort())
        const watch = await client.watch(`${path}?watch=1&resourceVersion=${version}`)
        for (const name of created) assert.equal((await watch.next())?.object.metadata.name, name)
        watch.leave()
      }
    })

    it('accept deletions, which watches at every server see', async () => {
      const { resourceVersion = '' } = (await clients[1](path)).json().metadata
      const watch = await clients[1].watch(`${path}?watch=1&resourceVersion=${resourceVersion}`)
      for (const name of created.slice(0, 3)) {
        assert.equal((await clients[0](`${path}/${name}`, { method: 'DELETE' })).status, 200)
        const frame = await watch.next()
        assert.deepEqual([frame?.type, frame?.object.metadata.name], ['DELETED', name])
      }
      watch.leave()
    })

    it('refuse to start with one sentence', async () => {
      assert.match(
        await refusalOf({ args: ['--store', `etcd://${etcd.endpoint}`] }),
        /^oriel: The server could not start: etcd has reached its quota \(mvcc: database space exceeded\): [^\n]+ Start it again when the store answers\.\n$/,
      )
    })

    it('write again, and run their controllers, after a compaction, a defragmentation and the end of the alarm', async () => {
      await makeRoom(etcd)
      for (const client of clients)
        await eventually(
          () => client(path, post({ ...big(`after-${clients.indexOf(client)}`), data: { a: 'b' } })),
          ({ status }) => status === 201,
        )
      assert.equal((await clients[0](workspaces, post(workspace('after')))).status, 201)
      await eventually(
        async () =>
          (await clients[1](`${workspaces}/after`)).json<{ status?: { phase?: string } }>().status?.phase,
        phase => phase === 'Ready',
      )
      assert.deepEqual([...(await names(clients[1]))].sort(), created.slice(3).sort())
      for (const server of servers) assert.doesNotMatch(server.output(), /^oriel: /m)
    })
  })
