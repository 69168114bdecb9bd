import assert from 'node:assert/strict'
import { type Client, clientOf } from '../support/client.ts'
import { notRun } from '../support/notrun.ts'
import { discard, type Oriel, startOriel } from '../support/oriel.ts'
import { buildPrevious, noPrevious, previousVersion } from '../support/previous.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from '../support/servers/etcd.ts'
import { configAt } from '../support/watcher.ts'
import type { History } from './history.ts'
import { moreWrites, observe } from './observed.ts'

const previous = previousVersion()
const servers = 2
/** Acknowledged writes between two steps of an upgrade. */
const writesBetween = 20

/** Servers of one etcd, and a client of each, which moves when its server is replaced. */
class Fleet {
  readonly #etcd: Etcd
  readonly servers: Oriel[] = []
  readonly clients: Client[] = []

  constructor(etcd: Etcd) {
    this.#etcd = etcd
  }

  /** Starts the server with a number. `program`: default: that of this version. */
  async start(i: number, options: { readonly program?: string; readonly directory?: string }): Promise<void> {
    const args = ['--store', `etcd://${this.#etcd.endpoint}`]
    const server = await startOriel({ ...options, args })
    const old = this.clients[i]
    this.clients[i] = await clientOf(configAt(server, server.url))
    this.servers[i] = server
    old?.close()
  }

  async close(): Promise<void> {
    for (const client of this.clients) client.close()
    await Promise.all(this.servers.map(discard))
  }
}

/** Replaces all servers, one after the other, while clients write, read and watch. */
const replaceAll = (fleet: Fleet): Promise<History> =>
  observe(fleet.clients, async history => {
    await moreWrites(history, writesBetween)
    for (const [i, server] of [...fleet.servers].entries()) {
      assert.equal(await server.stop(), 0, server.output())
      await moreWrites(history, writesBetween)
      await fleet.start(i, { directory: server.directory })
      await moreWrites(history, writesBetween)
    }
  })

if (etcdProgram() === undefined) notRun('an upgrade of servers over one etcd', noEtcd)
else if (previous === undefined) notRun('an upgrade of servers over one etcd', noPrevious)
else
  describe(`servers over one etcd, of the version ${previous} and of this one`, function () {
    this.timeout(240_000)
    let etcd: Etcd
    let fleet: Fleet
    let program: string
    before(async () => {
      etcd = await startEtcd()
      program = await buildPrevious(previous)
      fleet = new Fleet(etcd)
      for (let i = 0; i < servers; i++) await fleet.start(i, { program })
    })
    after(async () => {
      await fleet.close()
      await etcd.stop()
    })

    it('are upgraded one after the other: no write and no event is lost, and no read goes back', async () => {
      const { acknowledged } = await replaceAll(fleet)
      assert.ok(acknowledged.length >= writesBetween * (1 + 2 * servers))
    })
  })
