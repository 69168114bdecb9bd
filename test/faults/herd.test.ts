import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { issueAuthority } from '../../cmd/certificates/certificates.ts'
import { issueClient } from '../support/clientcertificates.ts'
import { discard, eventually, type Oriel, startOriel } from '../support/oriel.ts'
import { type Gate, openGate } from '../support/servers/gate.ts'
import { freePort } from '../support/servers/kcp.ts'
import { startViews } from '../support/servers/standalone.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { ask, type WireReply, type WireRequest } from '../support/wire.ts'

const types = '/services/apiexport/root/tenancy.kcp.io/clusters/*/apis/tenancy.kcp.io/v1alpha1/workspacetypes'
const clients = 40

interface KubeList {
  readonly items: readonly { readonly metadata: { readonly name: string } }[]
}

describe('oriel virtual-workspaces, when all clients reconnect at once', function () {
  this.timeout(120_000)
  let shard: Oriel
  let views: Awaited<ReturnType<typeof startViews>>
  let gate: Gate
  let url: string
  let admin: WireRequest

  before(async () => {
    const files = await temporaryDirectory('herd')
    const users = issueAuthority()
    const trusted = ['--client-ca-file', join(files, 'users.crt')]
    await writeFile(join(files, 'users.crt'), users.certificate)
    shard = await startOriel({ args: trusted })
    admin = {
      client: await issueClient(users, { subject: 'CN=admin, O=system:masters' }),
      ca: await readFile(join(shard.directory, 'ca.crt'), 'utf8'),
    }
    gate = await openGate(Number(new URL(shard.url).port))
    const kubeconfig = join(files, 'kubeconfig')
    const throughGate = (await readFile(shard.kubeconfig, 'utf8')).replaceAll(
      shard.url,
      `https://127.0.0.1:${gate.port}`,
    )
    await writeFile(kubeconfig, throughGate)
    const port = await freePort()
    url = `https://127.0.0.1:${port}`
    views = await startViews({
      shard: { ...shard, kubeconfig },
      port,
      more: trusted,
      files: shard.directory,
    })
    await eventually(list, ({ status }) => status === 200)
  })
  after(async () => {
    await views.kill()
    await gate.close()
    await discard(shard)
  })

  const list = (): Promise<WireReply> => ask('HTTP/1.1', url + types, admin)
  const namesIn = ({ body }: WireReply): readonly string[] =>
    (JSON.parse(body) as KubeList).items.map(({ metadata }) => metadata.name)
  async function counted(server: string, series: RegExp): Promise<number> {
    const { body } = await ask('HTTP/1.1', `${server}/metrics`, admin)
    return [...body.matchAll(series)].reduce((sum, [, count]) => sum + Number(count), 0)
  }
  const asked = (): Promise<number> =>
    counted(shard.url, /^apiserver_request_total\{(?=.*verb="LIST").*resource="workspacetypes".* (\d+)$/gm)
  const waiting = (): Promise<number> =>
    counted(url, /^apiserver_current_inflight_requests\{request_kind="readOnly"\} (\d+)$/gm)

  it('sends few lists to its shard for the consistent lists of all clients', async () => {
    const alone = namesIn(await list())
    assert.ok(alone.includes('universal'))
    const before = await asked()
    assert.ok(before > 0)
    gate.hold()
    const lists = Array.from({ length: clients }, list)
    await eventually(waiting, count => count >= clients)
    gate.release()
    for (const each of await Promise.all(lists)) assert.deepEqual(namesIn(each), alone)
    const times = (await asked()) - before
    assert.ok(times >= 2 && times <= 3, `${times} times`)
  })
})
