import assert from 'node:assert/strict'
import type { Client } from '../support/client.ts'
import { notRun } from '../support/notrun.ts'
import { eventually, type Oriel } from '../support/oriel.ts'
import { etcdProgram, noEtcd } from '../support/servers/etcd.ts'
import { type CutReplicas, type Line, startCutReplicas } from '../support/servers/replicas.ts'

const configMaps = '/clusters/root/api/v1/namespaces/default/configmaps'
const post = (name: string) => ({ method: 'POST', body: { metadata: { name } } })

const [began, ended] = ['this server runs the controllers', 'this server has stopped the controllers']

interface LogLine {
  readonly time: number
  readonly msg: string
}

/** The lines of a server's log with a message. */
const linesOf = (server: Oriel, message: string): readonly LogLine[] =>
  server
    .output()
    .split('\n')
    .filter(line => line.startsWith('{') && line.includes(message))
    .map(line => JSON.parse(line) as LogLine)

/** Whether a server runs the controllers. */
const leads = (server: Oriel): boolean => linesOf(server, began).length > linesOf(server, ended).length

if (etcdProgram() === undefined) notRun('a server that is cut off from etcd', noEtcd)
else
  describe('a server that is cut off from etcd, or paused', function () {
    this.timeout(120_000)
    let replicas: CutReplicas
    before(async () => {
      replicas = await startCutReplicas(2, 1)
      const [a] = replicas.clients as readonly [Client, Client]
      const namespace = () => a('/clusters/root/api/v1/namespaces/default')
      await eventually(namespace, ({ status }) => status === 200)
    })
    after(() => replicas.close())

    /** The server that runs the controllers, and the other one. */
    async function roles() {
      const { servers, clients, lines } = replicas
      const found = await eventually(
        async () => servers.findIndex(leads),
        i => i >= 0,
      )
      const at = (i: number) => ({
        server: servers[i] as Oriel,
        client: clients[i] as Client,
        line: lines[i] as Line,
      })
      return { leader: at(found), other: at(1 - found) }
    }

    it('refuses reads and writes, but for reads of any version, and is current afterwards', async () => {
      const { leader, other } = await roles()
      const read = () => other.client(`${configMaps}/written`)
      other.line.sever()
      try {
        assert.equal((await leader.client(configMaps, post('written'))).status, 201)
        const [gotten, listed, created, any] = await Promise.all([
          read(),
          other.client(configMaps),
          other.client(configMaps, post('refused')),
          other.client(`${configMaps}?resourceVersion=0`),
        ])
        assert.deepEqual([gotten.status, listed.status, any.status], [503, 503, 200])
        assert.ok(created.status >= 500, created.text)
      } finally {
        other.line.heal()
      }
      const after = await eventually(read, ({ status }) => status < 500)
      assert.equal(after.status, 200)
    })

    it('keeps watches, which continue after their last event', async () => {
      const { leader, other } = await roles()
      const { resourceVersion = '' } = (await other.client(configMaps)).json().metadata
      const stream = await other.client.watch(`${configMaps}?watch=1&resourceVersion=${resourceVersion}`)
      await leader.client(configMaps, post('first'))
      assert.equal((await stream.next())?.object.metadata.name, 'first')
      other.line.sever()
      for (const name of ['second', 'third']) await leader.client(configMaps, post(name))
      other.line.heal()
      assert.equal((await stream.next())?.object.metadata.name, 'second')
      assert.equal((await stream.next())?.object.metadata.name, 'third')
      stream.leave()
    })

    it('has stopped the controllers before another server starts them', async () => {
      const { leader, other } = await roles()
      leader.line.sever()
      try {
        await eventually(
          async () => leads(other.server),
          is => is,
        )
      } finally {
        leader.line.heal()
      }
      const stopped = linesOf(leader.server, ended).at(-1)?.time ?? Number.POSITIVE_INFINITY
      const started = linesOf(other.server, began).at(-1)?.time ?? 0
      assert.ok(stopped <= started, `stopped ${stopped - started} ms after the other server started them`)
    })

    it('stops the controllers when it wakes after another server has started them, and answers what is current', async () => {
      const { leader, other } = await roles()
      leader.server.pause()
      try {
        await eventually(
          async () => leads(other.server),
          is => is,
        )
        assert.equal((await other.client(configMaps, post('while-paused'))).status, 201)
      } finally {
        leader.server.resume()
      }
      const read = await leader.client(`${configMaps}/while-paused`)
      assert.equal(read.status, 200, read.text)
      await eventually(
        async () => leads(leader.server),
        is => !is,
      )
      assert.ok(leads(other.server))
    })
  })
