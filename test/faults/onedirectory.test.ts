import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, clientOf } from '../support/client.ts'
import { discard, type Oriel, startOriel } from '../support/oriel.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { configAt } from '../support/watcher.ts'
import { moreWrites, observe } from './observed.ts'

const writesBetween = 20

/** The replicas of a server, in `/proc`; empty on other systems. */
const replicasOf = ({ directory }: Oriel): readonly number[] =>
  (existsSync('/proc/self/environ') ? readdirSync('/proc') : [])
    .filter(
      pid => readOf(pid, 'environ').includes('ORIEL_REPLICA=') && readOf(pid, 'cmdline').includes(directory),
    )
    .map(Number)

function readOf(pid: string, file: string): string {
  try {
    return readFileSync(join('/proc', pid, file), 'utf8')
  } catch {
    return ''
  }
}

describe('three replicas over a directory', function () {
  this.timeout(240_000)
  let oriel: Oriel
  let clients: readonly Client[]
  before(async () => {
    const store = join(await temporaryDirectory('store'), 'store')
    oriel = await startOriel({ args: ['--replicas', '3', '--store', store] })
    // The token of the other administrator is a new one after each start.
    const config = configAt(oriel, oriel.url, 'shard-base')
    // Connections go to the replicas in turn.
    clients = await Promise.all([0, 1, 2].map(() => clientOf(config)))
  })
  after(async () => {
    for (const client of clients) client.close()
    await discard(oriel)
  })

  it('lose no write and no event when one of them, or all at once, are killed, and no read goes back', async () => {
    const history = await observe(clients, async history => {
      for (let round = 0; round < 2; round++) {
        await moreWrites(history, writesBetween)
        const [one] = replicasOf(oriel)
        if (one !== undefined) process.kill(one, 'SIGKILL')
        await moreWrites(history, writesBetween)
        await oriel.restart()
      }
      await moreWrites(history, writesBetween)
    })
    assert.ok(history.acknowledged.length >= 5 * writesBetween)
  })
})
