import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { createClient } from '../../framework/net/client.ts'
import { eventually } from '../../test/support/oriel.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { ProcessHealth } from './health.ts'
import type { ViewProcess } from './viewprocess.ts'

type Changed = ConstructorParameters<typeof ProcessHealth>[2]

describe('the health of the process of isolated views', () => {
  let server: Server
  let socketPath: string
  let end: () => void
  let killed: string[]
  let answers: boolean
  let watched: ChildProcess

  before(async () => {
    watched = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 60_000)'])
    await once(watched, 'spawn')
  })
  after(() => void watched.kill())
  beforeEach(async () => {
    killed = []
    socketPath = join(await temporaryDirectory('health'), 'socket')
    answers = true
    server = createServer((request, response) => {
      if (answers) response.end('[+]team ok\n')
      else request.destroy()
    })
    await new Promise<void>(resolve => server.listen(socketPath, resolve))
  })
  afterEach(() => {
    end()
    server.close()
    server.closeAllConnections()
  })

  /** That of an idle process, with a limit in mebibytes. */
  function healthWith(limit: number, changed: Changed = () => undefined): ProcessHealth {
    const process_: Partial<ViewProcess> = {
      pid: watched.pid ?? 0,
      client: createClient({ socketPath }),
      ended: new Promise(resolve => {
        end = () => resolve('')
      }),
      headersOf: () => ({}),
      kill: reason => void killed.push(reason),
    }
    return new ProcessHealth(process_ as ViewProcess, limit, changed)
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

  it('ends a process that closes its connections without an answer', async () => {
    const seen: boolean[] = []
    healthWith(2048, views => void seen.push(views.get('team') === true))
    await eventually(
      async () => seen.includes(true),
      isReady => isReady,
    )
    answers = false
    await eventually(
      async () => killed,
      reasons => reasons.length > 0,
    )
    assert.equal(killed[0], 'it did not answer for 10 s')
  }).timeout(60_000)

  it('ends a process with more than its limit', async () => {
    healthWith(1)
    await eventually(
      async () => killed,
      reasons => reasons.length > 0,
    )
    assert.match(killed[0] ?? '', /^it had \d+ MiB in memory, more than 1 MiB$/)
  })
})
