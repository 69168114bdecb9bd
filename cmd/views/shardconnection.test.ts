import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { type Logger, silent } from '../../framework/contract/log.ts'
import type { ShardConnection } from '../../remote/connection/connection.ts'
import { eventually } from '../../test/support/oriel.ts'
import { type Gate, openGate } from '../../test/support/servers/gate.ts'
import { type SickServer, startSickServer } from '../../test/support/servers/sickserver.ts'
import { openConnection } from './shardconnection.ts'
import type { ViewSetup } from './viewsetup.ts'

describe('a connection from a kubeconfig', function () {
  this.timeout(60_000)
  let server: SickServer
  let gate: Gate
  let connection: ShardConnection
  let lines: string[]
  const stop = new AbortController()
  const log: Logger = { ...silent, warn: (_, text) => lines.push(text), error: (_, text) => lines.push(text) }

  before(async () => {
    lines = []
    server = await startSickServer()
    gate = await openGate(Number(new URL(server.url).port))
    const setup = { flags: { context: 'shard' }, log, signal: stop.signal } as unknown as ViewSetup
    connection = await openConnection(setup, { flag: '--kubeconfig', path: server.kubeconfig })
  })
  after(async () => {
    stop.abort()
    await connection.close()
    await gate.close()
    server.close()
  })

  const told = (pattern: RegExp): Promise<unknown> =>
    eventually(
      async () => lines,
      all => all.some(line => pattern.test(line)),
    )

  it('is probed after a change until the server responds', async () => {
    gate.cutAfter(0)
    const config = await readFile(server.kubeconfig, 'utf8')
    await writeFile(server.kubeconfig, config.replace(server.url, `https://127.0.0.1:${gate.port}`))
    await told(/cannot be used: the connection was (closed|reset)/)
    assert.equal(connection.reach.isGood(), false)
    gate.cutAfter(undefined)
    await told(/can be used again$/)
    assert.equal(connection.reach.isGood(), true)
    assert.equal(lines.filter(line => line.includes('cannot be used')).length, 1, lines.join('\n'))
  })
})
