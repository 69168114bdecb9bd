import assert from 'node:assert/strict'
import { type Client, clientOf, type Frame } from '../support/client.ts'
import { notRun } from '../support/notrun.ts'
import { eventually, type Oriel } from '../support/oriel.ts'
import { etcdProgram, noEtcd } from '../support/servers/etcd.ts'
import { leaderOf, type Replicas, startSkewedReplicas } from '../support/servers/replicas.ts'
import { configAt, userAt } from '../support/watcher.ts'
import { moreWrites, observe } from './observed.ts'

const halfAnHour = 1_800_000
const offsets = [0, halfAnHour, -halfAnHour]
/** Milliseconds. */
const eventTtl = 3_000
/** More than a server waits before it takes the Lease of another one, which renews it each second. */
const renewals = 14

const core = '/clusters/root/api/v1/namespaces/default'
const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'

interface Lease {
  readonly spec: { readonly holderIdentity: string; readonly leaseTransitions: number }
}

if (etcdProgram() === undefined) notRun('skewed clocks', noEtcd)
else
  describe('three servers over one etcd, one with a fast clock and one with a slow one', function () {
    this.timeout(240_000)
    let replicas: Replicas
    let clients: readonly Client[]
    before(async () => {
      const clocks = offsets.map(offset => ({ offset }))
      replicas = await startSkewedReplicas(clocks, ['--event-ttl', `${eventTtl}ms`])
      clients = replicas.clients
      const namespace = () => (clients[0] as Client)(core)
      await eventually(namespace, ({ status }) => status === 200)
    })
    after(() => replicas.close())

    const create = (client: Client, path: string, body: object) => client(path, { method: 'POST', body })

    /** The states of the Lease of the controllers. */
    async function states(count: number): Promise<readonly Lease[]> {
      const [server] = replicas.servers as readonly [Oriel]
      const admin = await clientOf(configAt(server, `${server.url}/clusters/system:admin`, 'system:admin'))
      const stream = await admin.watch(`${lease}?watch=1&fieldSelector=metadata.name=oriel-controllers`)
      const frames: Frame[] = []
      for (let frame = await stream.next(); frame; frame = await stream.next()) {
        frames.push(frame)
        if (frames.length === count) break
      }
      stream.leave()
      admin.close()
      return frames.map(({ object }) => object as unknown as Lease)
    }

    it('leave the Lease to the server that renews it, whatever its times are', async () => {
      const seen = await states(renewals)
      const holders = new Set(
        seen.map(({ spec }) => `${spec.holderIdentity} after ${spec.leaseTransitions} changes`),
      )
      assert.equal(holders.size, 1, [...holders].join())
    })

    it('write the time of their clocks', async () => {
      for (const [i, client] of clients.entries()) {
        const created = await create(client, `${core}/configmaps`, { metadata: { name: `time-${i}` } })
        const time = Date.parse(created.json().metadata.creationTimestamp ?? '')
        const apart = Math.round((time - Date.now()) / halfAnHour) * halfAnHour
        assert.equal(apart + 0, offsets[i])
      }
    })

    it('delete each event after its time, and not before', async () => {
      const stream = await (clients[0] as Client).watch(`${core}/events?watch=1`)
      const created = new Map<string, number>()
      for (const [i, client] of clients.entries()) {
        const body = { metadata: { name: `event-${i}` }, involvedObject: { namespace: 'default' } }
        created.set(body.metadata.name, performance.now())
        const reply = await create(client, `${core}/events`, body)
        assert.equal(reply.status, 201, reply.text)
      }
      const kept = new Map<string, number>()
      while (kept.size < created.size) {
        const { type, object } = (await stream.next()) as Frame
        const { name = '' } = object.metadata
        const since = created.get(name)
        if (type === 'DELETED' && since !== undefined) kept.set(name, performance.now() - since)
      }
      stream.leave()
      for (const [name, time] of kept) assert.ok(time >= eventTtl, `${name} was there for ${time} ms`)
      for (const client of clients) {
        const { items = [] } = (await client(`${core}/events`)).json()
        assert.deepEqual(
          items.filter(({ metadata }) => created.has(metadata.name ?? '')),
          [],
        )
      }
    })

    it('accept a token of a service account when their clock is not before its time', async () => {
      const account = `${core}/serviceaccounts/default`
      await eventually(
        () => (clients[0] as Client)(account),
        ({ status }) => status === 200,
      )
      const whoami = '/clusters/root/apis/authentication.k8s.io/v1/selfsubjectreviews'
      for (const [i, issuer] of clients.entries()) {
        const { status } = (await create(issuer, `${account}/token`, { spec: {} })).json<{
          readonly status?: { readonly token: string }
        }>()
        for (const [j, server] of replicas.servers.entries()) {
          const account = await clientOf(userAt(server, server.url, status?.token))
          const isRefused = (await create(account, whoami, {})).status === 401
          account.close()
          const isEarly = (offsets[i] ?? 0) > (offsets[j] ?? 0)
          assert.equal(isRefused, isEarly, `issued by server ${i}, sent to server ${j}`)
        }
      }
    })

    it('lose no write and no event, and elect another leader, when one is killed and clocks are set', async () => {
      const { servers } = replicas
      const history = await observe(clients, async history => {
        await moreWrites(history, 30)
        const [first] = servers as readonly [Oriel]
        const before = await leaderOf(first)
        const leads = servers.find(server => server.output().includes(before)) as Oriel
        await leads.kill()
        const rest = servers.filter(server => server !== leads)
        await eventually(
          () => leaderOf(rest[0] as Oriel),
          holder => holder !== before,
        )
        for (const server of rest) server.signal('SIGUSR2')
        await moreWrites(history, 30)
        await leads.restart()
        await moreWrites(history, 30)
      })
      assert.ok(history.acknowledged.length >= 90)
    })
  })
