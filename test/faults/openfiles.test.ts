import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { clientOf } from '../support/client.ts'
import { discard, eventually, type Oriel, startOriel } from '../support/oriel.ts'
import { configAt } from '../support/watcher.ts'

/** More than the files that the server may open. */
const flood = 300

/** Connections without a request; those that the server closes stay in the list. */
async function openConnections({ url }: Oriel): Promise<readonly Socket[]> {
  const { hostname, port } = new URL(url)
  const sockets = Array.from({ length: flood }, () =>
    connect(Number(port), hostname).on('error', () => undefined),
  )
  await Promise.all(sockets.map(socket => Promise.race([once(socket, 'connect'), once(socket, 'close')])))
  return sockets
}

describe('a server with few open files', function () {
  this.timeout(120_000)
  for (const args of [[], ['--max-connections', '0'], ['--max-connections', '10000']])
    it(`serves during a flood of connections, and logs it once: ${args.join(' ')}`, async () => {
      const oriel = await startOriel({ openFiles: 128, args })
      const client = await clientOf(configAt(oriel, oriel.url))
      const sockets = await openConnections(oriel)
      await eventually(
        async () => oriel.output(),
        output => output.includes('the limit of connections is reached'),
      )
      assert.equal((await client('/readyz')).status, 200)
      for (const socket of sockets) socket.destroy()
      assert.equal((await client('/readyz')).status, 200)
      const lines = oriel.output().match(/the limit of connections is reached|could not be accepted/g)
      assert.equal(lines?.length, 1, oriel.output())
      client.close()
      await discard(oriel)
    })
})
