import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mountIdentityAnnotation } from '../../../framework/contract/workspacetree.ts'
import type { KubeObject } from '../../../framework/index.ts'
import { type Client, clientOf } from '../../support/client.ts'
import {
  compiled,
  discard,
  eventually,
  type Kubectl,
  kubectlFor,
  type Oriel,
  run,
  startOriel,
} from '../../support/oriel.ts'
import { startFrontProxy, writeProxyAuthority } from '../../support/servers/frontproxy.ts'
import { mount, remoteClusters } from '../../support/servers/remoteclusters.ts'
import { apply } from '../../support/tenants.ts'
import { configAt } from '../../support/watcher.ts'
import { testCertificates } from '../../support/wire.ts'

/** A mount whose requests have the given identity. */
const mountAs = (name: string, url: string, identity: string): readonly KubeObject[] => {
  const [target, workspace] = mount(name, url) as [KubeObject, KubeObject]
  const annotations = { [mountIdentityAnnotation]: identity }
  return [target, { ...workspace, metadata: { ...workspace.metadata, annotations } }]
}

describe('the token of a user of a mount', function () {
  this.timeout(120_000)
  let folder: string
  let oriel: Oriel
  let server: Server
  let port: number
  let root: Kubectl
  let clients: Readonly<Record<string, Client>>
  let stop: () => Promise<void>
  const seen: IncomingHttpHeaders[] = []

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-identity-'))
    const { tls, authority } = testCertificates()
    server = createServer({ cert: tls.cert, key: tls.key }, ({ headers }, response) => {
      seen.push(headers)
      response.end('fine')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
    await writeFile(join(folder, 'mounts.crt'), authority.certificate)
    const flags = [
      ...['--mount-allow', '127.0.0.1', '--mount-allow', 'localhost'],
      ...['--mount-ca-file', join(folder, 'mounts.crt')],
    ]
    const trusted = ['--mount-forward-identity', '127.0.0.1']
    const believed = await writeProxyAuthority(folder)
    oriel = await startOriel({ args: [...believed, ...flags, ...trusted, '--store', 'memory:'] })
    root = kubectlFor(oriel, 'root')
    await apply(root, remoteClusters)
    await root(['wait', '--for=condition=Established', 'crd/remoteclusters.example.io'])
    await apply(root, ...mountAs('forward', `https://127.0.0.1:${port}`, 'Forward'))
    await apply(root, ...mountAs('none', `https://127.0.0.1:${port}`, 'None'))
    await apply(root, ...mountAs('mistaken', `https://127.0.0.1:${port}`, 'forward'))
    for (const name of ['forward', 'none', 'mistaken'])
      await root(['wait', '--for=condition=WorkspaceMountReady', `workspace/${name}`])
    const shards = [oriel]
    const proxy = await startFrontProxy({ folder, name: 'trusting', shards, args: [...flags, ...trusted] })
    const wary = await startFrontProxy({ folder, name: 'wary', shards, args: flags })
    clients = {
      'the server': await clientOf(configAt(oriel, oriel.url, 'base')),
      'the front proxy': await proxy.client('admin-token'),
      'a front proxy without the flag': await wary.client('admin-token'),
    }
    stop = async () => {
      for (const client of Object.values(clients)) client.close()
      await Promise.all([proxy.stop(), wary.stop()])
      await discard(oriel)
    }
  })
  after(async () => {
    await stop()
    server.closeAllConnections()
    server.close()
    await rm(folder, { recursive: true })
  })

  const ask = (by: string, path: string, headers: Readonly<Record<string, string>> = {}) => {
    seen.length = 0
    return eventually(
      () => (clients[by] as Client)(path, { headers: { accept: 'application/json', ...headers } }),
      ({ status }) => status !== 404 && status !== 403,
    )
  }

  for (const by of ['the server', 'the front proxy']) {
    it(`is forwarded by ${by} if both workspace and operator want it, and nothing else is`, async () => {
      const headers = { cookie: 'a=b', 'x-remote-user': 'admin', 'x-forwarded-for': '1.2.3.4' }
      assert.equal((await ask(by, '/clusters/root:forward/api', headers)).text, 'fine')
      const [{ authorization = '', ...others } = {}] = seen
      assert.match(authorization, /^Bearer \S+$/)
      assert.doesNotMatch(JSON.stringify(others), /x-remote|cookie|forwarded|admin/)
    })

    it(`is not forwarded by ${by} otherwise`, async () => {
      for (const name of ['none', 'mistaken']) {
        assert.equal((await ask(by, `/clusters/root:${name}/api`)).text, 'fine')
        assert.equal(seen[0]?.authorization, undefined)
      }
    })
  }

  it('is shown by oriel explain', async () => {
    const explained = async (name: string): Promise<string> => {
      const access = ['--kubeconfig', oriel.kubeconfig, '--context', 'root']
      return (await run(process.execPath, [compiled, 'explain', 'get', `workspaces/${name}`, ...access]))
        .stdout
    }
    const url = `https://127.0.0.1:${port}`
    assert.match(await explained('forward'), new RegExp(`go to ${url}, with the bearer token of the user`))
    assert.match(await explained('none'), new RegExp(`go to ${url}, without credentials of the user`))
    assert.match(await explained('mistaken'), /mount-identity: None/)
    assert.doesNotMatch(await explained('missing'), /Mount:/)
  })

  it('is refused to hosts that the operator does not list, with the flag', async () => {
    await apply(root, ...mountAs('other', `https://localhost:${port}`, 'Forward'))
    const reason = 'jsonpath={.status.conditions[?(@.type=="WorkspaceMountReady")].reason}'
    await eventually(
      () => root(['get', 'workspace', 'other', '-o', reason]),
      text => text === 'MountURLRefused',
    )
    const refused = await ask('the server', '/clusters/root:other/api')
    assert.equal(refused.status, 503)
    const flag = '--mount-forward-identity localhost of oriel start allows it, with https'
    assert.ok(refused.text.includes(`its host localhost must not get tokens of users: ${flag}`), refused.text)
    assert.deepEqual(seen, [])
  })

  it('is refused by a front proxy without the flag', async () => {
    const refused = await ask('a front proxy without the flag', '/clusters/root:forward/api')
    assert.equal(refused.status, 503)
    assert.match(refused.text, /--mount-forward-identity 127\.0\.0\.1 of oriel front-proxy allows it/)
    assert.deepEqual(seen, [])
  })

  it('follows the annotation of the workspace', async () => {
    await root(['annotate', 'workspace', 'forward', '--overwrite', `${mountIdentityAnnotation}=None`])
    await eventually(
      () => ask('the server', '/clusters/root:forward/api'),
      () => seen[0]?.authorization === undefined,
    )
  })
})
