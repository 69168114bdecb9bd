import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueAuthority } from '../../cmd/certificates/certificates.ts'
import { issueClient } from '../support/clientcertificates.ts'
import { discard, eventually, type Oriel, startOriel } from '../support/oriel.ts'
import { type Gate, openGate } from '../support/servers/gate.ts'
import { freePort } from '../support/servers/kcp.ts'
import { readiness } from '../support/servers/readiness.ts'
import { startViews } from '../support/servers/standalone.ts'
import { ask, open } from '../support/wire.ts'

const aMoment = 2 / 3600
const typesOfRoot = '/services/apiexport/root/tenancy.kcp.io'
const types = '/apis/tenancy.kcp.io/v1alpha1/workspacetypes'

describe('oriel virtual-workspaces, while its shard and files change', function () {
  this.timeout(120_000)
  const users = issueAuthority()
  const own = issueAuthority()
  const serving = { subject: 'CN=views', serverOnly: true, hosts: ['127.0.0.1', 'localhost'] }
  const admin = { subject: 'CN=views, O=system:masters' }
  let files: string
  let url: string
  let shard: Oriel
  let views: Awaited<ReturnType<typeof startViews>>
  let gate: Gate | undefined

  before(async () => {
    files = await mkdtemp(join(tmpdir(), 'oriel-faults-'))
    await write('users.crt', users.certificate)
    shard = await startOriel({ args: ['--client-ca-file', join(files, 'users.crt')] })
    await shard.kill()
    await certify({})
    await connect({})
    const port = await freePort()
    url = `https://127.0.0.1:${port}`
    views = await startViews({
      port,
      files,
      more: ['--client-ca-file', join(files, 'users.crt')],
      shard: { ...shard, kubeconfig: join(files, 'kubeconfig') },
    })
  })
  after(async () => {
    await views.kill()
    await gate?.close()
    await discard(shard)
    await rm(files, { recursive: true })
  })

  const write = (name: string, content: string): Promise<void> => writeFile(join(files, name), content)

  /** Writes the serving certificate of the views. */
  async function certify(more: { readonly hours?: number }): Promise<void> {
    const { certificate, key } = await issueClient(own, { ...serving, ...more })
    await write('apiserver.key', key)
    await write('apiserver.crt', certificate)
  }

  interface Access {
    readonly subject?: string
    readonly hours?: number
    readonly ca?: string
    readonly context?: string
    readonly server?: string
    readonly file?: string
  }

  /** Writes the kubeconfig of the views. */
  async function connect({ ca, context = 'shard-base', ...others }: Access): Promise<void> {
    const { server = shard.url, file = 'kubeconfig', ...client } = others
    const { certificate, key } = await issueClient(users, { ...admin, ...client })
    const authority = ca ?? (await readFile(join(shard.directory, 'ca.crt'), 'utf8'))
    const base64 = (text: string): string => Buffer.from(text).toString('base64')
    const user = { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) }
    const cluster = { server, 'certificate-authority-data': base64(authority) }
    const config = {
      contexts: [{ name: context, context: { cluster: 'shard', user: 'views' } }],
      clusters: [{ name: 'shard', cluster }],
      users: [{ name: 'views', user }],
    }
    await write(file, JSON.stringify(config))
  }

  /** The number of log lines that were read already. */
  let told = 0
  const news = (): readonly string[] =>
    views
      .views()
      .split('\n')
      // The text after the last line break is still being written.
      .slice(0, -1)
      .filter(line => /cannot be used|has expired|used again/.test(line))
      .map(line => (JSON.parse(line) as { msg: string }).msg)
      // On a busy machine healthy shards respond late, too, which is logged and passes.
      .filter(text => !text.includes('has not answered in time'))
      .slice(told)
  /** Waits for a log line about a problem. Resolves with the number of lines before it. */
  async function says(line: RegExp): Promise<number> {
    const before = await eventually(
      async () => news().findIndex(text => line.test(text)),
      index => index >= 0,
    )
    told += before + 1
    return before
  }

  const becomes = (state: 'ready' | 'not ready'): Promise<string> =>
    eventually(
      () => readiness(url),
      said => said.includes('check passed') === (state === 'ready'),
    )

  it('starts before its shard, and logs that', async () => {
    await says(/cannot be used: connection refused: start the server, or correct server in the kubeconfig$/)
    await becomes('not ready')
    await shard.restart()
    await says(/can be used again$/)
    await becomes('ready')
  })

  it('ends on SIGTERM, also when its shard was never reachable', async () => {
    await connect({ server: 'https://127.0.0.1:1', file: 'nowhere' })
    const kubeconfig = join(files, 'nowhere')
    const port = await freePort()
    const lost = await startViews({
      port,
      files,
      more: [],
      shard: { ...shard, kubeconfig, stop: async () => 0 },
    })
    await eventually(
      async () => lost.views(),
      said => said.includes('connection refused'),
    )
    assert.equal(await lost.stop(), 0)
    const messages = [...lost.views().matchAll(/"msg":"([^"]*)"/g)].map(([, message]) => message)
    assert.match(messages.shift() ?? '', /connection refused/)
    assert.deepEqual(messages, ['the server has stopped'])
  })

  it('continues when the shard is reachable again', async () => {
    await shard.kill()
    await says(/cannot be used: connection refused/)
    await becomes('not ready')
    await shard.restart()
    await says(/can be used again$/)
    await becomes('ready')
  })

  const cases: readonly [what: string, access: Access, line: RegExp][] = [
    [
      'whose client certificate expires',
      { hours: aMoment },
      /cannot be used: the client certificate in the kubeconfig has expired: renew it$/,
    ],
    [
      'that names another authority',
      { ca: issueAuthority().certificate },
      /cannot be used: its certificate is signed by an unknown authority: set certificate-authority in the kubeconfig/,
    ],
    [
      'whose user may not see all logical clusters',
      { subject: 'CN=somebody' },
      /cannot be used: its user may not see the objects of all logical clusters: use a kubeconfig whose user is in the group system:masters$/,
    ],
  ]
  for (const [what, access, line] of cases)
    it(`reports what to change in a kubeconfig ${what}, and continues after the change`, async () => {
      await connect(access)
      assert.equal(await says(line), 0)
      await becomes('not ready')
      await connect({})
      assert.equal(await says(/can be used again$/), 0)
      await becomes('ready')
      assert.deepEqual(news(), [])
    })

  it('keeps its configuration when the new kubeconfig lacks the context', async () => {
    await connect({ context: 'other' })
    await says(
      /^the changed kubeconfig of --kubeconfig cannot be used, and the previous state is still used: .* has no context "shard-base": it has "other" \(--kubeconfig\)\.$/,
    )
    await becomes('ready')
    await connect({})
    await becomes('ready')
    assert.deepEqual(news(), [])
  })

  it('releases the resources of clients that have left', async () => {
    const upstream = async (): Promise<number> => gate?.open ?? 0
    gate = await openGate(Number(new URL(shard.url).port))
    const { port } = gate
    await connect({ server: `https://127.0.0.1:${port}` })
    await eventually(upstream, open => open > 0)
    const wanted = { client: await issueClient(users, admin), ca: own.certificate }
    const watching = async (): Promise<number> => {
      const { body } = await ask('HTTP/1.1', `${url}/metrics`, wanted)
      const counts = [...body.matchAll(/^apiserver_longrunning_requests\{.* (\d+)$/gm)]
      return counts.reduce((sum, [, count]) => sum + Number(count), 0)
    }
    const paths = ['*', 'root'].map(cluster => `${typesOfRoot}/clusters/${cluster}${types}?watch=true`)
    const each = Array.from({ length: 20 }, () => paths).flat()
    const watches = await Promise.all(each.map(path => open('HTTP/1.1', url + path, wanted)))
    for (const watch of watches) assert.match((await watch.next()) ?? '', /"type":"ADDED"/)
    assert.equal(await watching(), watches.length)
    // The watch starts after the list.
    await eventually(upstream, open => open >= 20)
    for (const watch of watches) watch.leave()
    await eventually(watching, count => count === 0)
    // Only connections of the views themselves remain.
    await eventually(upstream, open => open <= 2)
  })

  it('reports that its own certificate has expired, and uses the next one', async () => {
    await certify({ hours: aMoment })
    await says(/^the serving certificate has expired: renew .*apiserver\.crt$/)
    await certify({})
    await eventually(
      () =>
        ask('HTTP/1.1', `${url}/readyz`, { ca: own.certificate }).then(
          ({ status }) => status,
          () => 0,
        ),
      status => status === 200,
    )
    assert.deepEqual(news(), [])
  })
})
