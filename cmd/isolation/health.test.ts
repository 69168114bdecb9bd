import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { createClient } from '../../framework/net/client.ts'
import { eventually } from '../../test/support/oriel.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { ProcessHealth } from './health.ts'
import type { ViewProcess } from './viewprocess.ts'

describe('the health of the process of isolated views', () => {
  let server: Server
  let socketPath: string
  let end: () => void
  let killed: string[]

  beforeEach(async () => {
    killed = []
    socketPath = join(await temporaryDirectory('health'), 'socket')
    server = createServer((_, response) => void response.end('[+]team ok\n'))
    await new Promise<void>(resolve => server.listen(socketPath, resolve))
  })
  afterEach(() => {
    end()
    server.close()
    server.closeAllConnections()
  })

  /** This process, with a limit in mebibytes. */
  function healthWith(limit: number): ProcessHealth {
    const process_: Partial<ViewProcess> = {
      pid: process.pid,
      client: createClient({ socketPath }),
      ended: new Promise(resolve => {
        end = () => resolve('')
      }),
      headersOf: () => ({}),
      kill: reason => void killed.push(reason),
    }
    return new ProcessHealth(process_ as ViewProcess, limit, () => undefined)
  }

  for (const limit of [2048, 4096, 999_999])
    it(`lets a process have less than ${limit} MiB`, async () => {
      const health = healthWith(limit)
      await eventually(
        async () => health.memory,
        memory => memory > 0,
      )
      assert.deepEqual(killed, [])
    })

  it('ends a process with more than its limit', async () => {
    healthWith(1)
    await eventually(
      async () => killed,
      reasons => reasons.length > 0,
    )
    assert.match(killed[0] ?? '', /^it had \d+ MiB in memory, more than 1 MiB$/)
  })
})
