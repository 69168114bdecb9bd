import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '../../support/client.ts'
import { needsOneProcess } from '../../support/notrun.ts'
import { eventually } from '../../support/oriel.ts'
import { type FrontProxy, startFrontProxy } from '../../support/servers/frontproxy.ts'
import { type Shards, startShards, tenantOn } from '../../support/servers/shards.ts'

/** Seats of the proxy for requests that read. */
const seats = 4

describe('a front proxy, one of whose shards hangs', function () {
  this.timeout(120_000)
  let folder: string
  let shards: Shards
  let proxy: FrontProxy
  const clients: Client[] = []
  const far: string[] = []

  before(async function () {
    needsOneProcess(this)
    folder = await mkdtemp(join(tmpdir(), 'oriel-hanging-'))
    shards = await startShards(folder)
    const users = Array.from({ length: seats + 1 }, (_, i) => `user-${i}-token,user-${i},u${i}`)
    await writeFile(
      join(folder, 'users.csv'),
      `${['admin-token,admin,1,"system:kcp:admin"', ...users].join('\n')}\n`,
    )
    proxy = await startFrontProxy({
      folder,
      name: 'proxy',
      shards: [shards.root, shards.beta],
      args: ['--max-requests-inflight', String(seats), '--token-auth-file', join(folder, 'users.csv')],
    })
    for (const token of ['admin', ...users.map((_, i) => `user-${i}`)])
      clients.push(await proxy.client(`${token}-token`))
    for (let i = 0; i < seats; i++) far.push((await tenantOn(shards, 'beta', `far-${i}`)).path)
  })
  after(async () => {
    for (const client of clients) client.close()
    await proxy?.stop()
    await Promise.all([shards?.root.stop(), shards?.beta.kill()])
    if (folder !== undefined) await rm(folder, { recursive: true })
  })

  it('serves the workspaces of other shards to further users', async () => {
    const [admin, ...users] = clients
    assert.ok(admin)
    const api = (path: string): string => `/clusters/${path}/api`
    for (const path of far)
      await eventually(
        () => admin(api(path)),
        ({ status }) => status === 200,
      )
    shards.beta.pause()
    for (const [i, path] of far.entries()) void users[i]?.(api(path)).catch(() => undefined)
    const areWaiting = async (): Promise<boolean> =>
      (await admin('/metrics')).text.includes(
        `current_executing_requests{priority_level="readOnly"} ${seats}\n`,
      )
    await eventually(areWaiting, isSo => isSo)
    assert.equal((await users[seats]?.(api('root')))?.status, 200)
    assert.ok(await areWaiting(), 'the user waited for requests to the other shard')
  })
})
