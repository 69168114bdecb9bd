import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { issueAuthority, issueServing } from '../../../cmd/certificates/certificates.ts'
import { type Client, clientOf } from '../../support/client.ts'
import { issueClient } from '../../support/clientcertificates.ts'
import {
  compiled,
  discard,
  endOf,
  eventually,
  type Oriel,
  readText,
  run,
  startOriel,
} from '../../support/oriel.ts'

/** A kubeconfig as kcp's test server writes it: files, and no server for credentials of all shards. */
const kubeconfig = (cluster: object, user: object): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'base',
    clusters: [{ name: 'base', cluster }],
    contexts: [{ name: 'base', context: { cluster: 'base', user: 'shard-admin' } }],
    users: [{ name: 'shard-admin', user }],
  })

describe("a front proxy with the command line of kcp's sharded test server", function () {
  this.timeout(60_000)
  let work: string
  let shard: Oriel
  let serving: string
  const place = (path: string): string => join(work, path)
  const put = async (path: string, content: string): Promise<void> => {
    await mkdir(dirname(place(path)), { recursive: true })
    await writeFile(place(path), content)
  }

  /** kcp cmd/sharded-test-server/frontproxy.go, startFrontProxy, with a free port. */
  const args = (): readonly string[] => [
    '--bind-address=127.0.0.1',
    `--mapping-file=${place('.kcp-front-proxy/mapping.yaml')}`,
    `--root-directory=${place('.kcp-front-proxy')}`,
    `--root-kubeconfig=${place('.kcp/root.kubeconfig')}`,
    `--shards-kubeconfig=${place('.kcp-front-proxy/shards.kubeconfig')}`,
    `--client-ca-file=${place('.kcp/client-ca.crt')}`,
    `--requestheader-client-ca-file=${place('.kcp/requestheader-ca.crt')}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    '--requestheader-allowed-names=kcp-front-proxy,kcp-mounts-proxy',
    `--tls-cert-file=${place('.kcp-front-proxy/apiserver.crt')}`,
    `--tls-private-key-file=${place('.kcp-front-proxy/apiserver.key')}`,
    '--secure-port=0',
    '--v=4',
  ]

  before(async () => {
    work = await mkdtemp(join(tmpdir(), 'oriel-proxyline-'))
    const [clients, headers, own] = [issueAuthority(), issueAuthority(), issueAuthority()]
    await put('.kcp/client-ca.crt', clients.certificate)
    await put('.kcp/requestheader-ca.crt', headers.certificate)
    const cas = ['--client-ca-file', place('.kcp/client-ca.crt')]
    const proxies = ['--requestheader-client-ca-file', place('.kcp/requestheader-ca.crt')]
    shard = await startOriel({ args: ['--store', 'memory:', ...cas, ...proxies] })
    await put('.kcp/serving-ca.crt', await readText(join(shard.directory, 'ca.crt')))
    await issue('.kcp-front-proxy/shard-admin', clients, 'CN=shard-admin, O=system:masters')
    await issue('.kcp-front-proxy/requestheader', headers, 'CN=kcp-front-proxy')
    await issue('.kcp/kcp-admin', clients, 'CN=kcp-admin, O=system:kcp:admin')
    serving = own.certificate
    const served = issueServing(own, ['localhost', '127.0.0.1'])
    await put('.kcp-front-proxy/apiserver.crt', served.certificate)
    await put('.kcp-front-proxy/apiserver.key', served.key)
    await put('.kcp-front-proxy/mapping.yaml', mapping())
    const cluster = { 'certificate-authority': place('.kcp/serving-ca.crt') }
    const admin = {
      'client-certificate': place('.kcp-front-proxy/shard-admin.crt'),
      'client-key': place('.kcp-front-proxy/shard-admin.key'),
    }
    await put('.kcp/gone.kubeconfig', kubeconfig({ server: 'https://127.0.0.1:1' }, admin))
    await put('.kcp/root.kubeconfig', kubeconfig({ ...cluster, server: shard.url }, admin))
    await put('.kcp-front-proxy/shards.kubeconfig', kubeconfig(cluster, admin))
  })
  after(async () => {
    await discard(shard)
    await rm(work, { recursive: true })
  })

  async function issue(path: string, authority: ReturnType<typeof issueAuthority>, subject: string) {
    const { certificate, key } = await issueClient(authority, { subject })
    await put(`${path}.crt`, certificate)
    await put(`${path}.key`, key)
  }

  const mapping = (): string =>
    JSON.stringify(
      ['/e2e/clusters/{cluster}/', '/clusters/'].map(path => ({
        path,
        backend: 'https://localhost:6444',
        backend_server_ca: place('.kcp/serving-ca.crt'),
        proxy_client_cert: place('.kcp-front-proxy/requestheader.crt'),
        proxy_client_key: place('.kcp-front-proxy/requestheader.key'),
      })),
    )

  async function adminAt(server: string): Promise<Client> {
    const config = new KubeConfig()
    const [certFile, keyFile] = [place('.kcp/kcp-admin.crt'), place('.kcp/kcp-admin.key')]
    const caData = Buffer.from(serving).toString('base64')
    config.loadFromClusterAndUser(
      { name: 'proxy', server, caData, skipTLSVerify: false },
      { name: 'kcp-admin', certFile, keyFile },
    )
    return clientOf(config)
  }

  const started = (child: ChildProcess, printed: readonly string[]): Promise<string> =>
    eventually(
      async () => {
        if (child.exitCode !== null) throw new Error(`the front proxy ended: ${printed.join('')}`)
        return /Serving on (https:\/\/[^\s/,]+:\d+)/.exec(printed.join(''))?.[1] ?? ''
      },
      url => url !== '',
    )

  it('serves workspaces with the certificate of --tls-cert-file, and names the flags without effect', async () => {
    const more = ['--service-account-lookup=false', '--cert-dir=x', '--feature-gates=WorkspaceMounts=true']
    const child = spawn(process.execPath, [compiled, 'front-proxy', ...args(), ...more])
    const printed: string[] = []
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', text => printed.push(text))
    try {
      const admin = await adminAt(await started(child, printed))
      const path = '/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces'
      const { status, text } = await eventually(
        () => admin(path),
        reply => reply.status === 200,
      )
      assert.equal(status, 200, text)
      const reply = await admin('/readyz')
      assert.equal(reply.status, 200, reply.text)
      admin.close()
      const ignored = printed.join('').match(/--[a-z-]+(?= is ignored)/g) ?? []
      assert.deepEqual(ignored.toSorted(), ['--cert-dir', '--feature-gates', '--service-account-lookup'])
    } finally {
      await endOf(child, 'SIGTERM')
    }
  })

  describe('ends with one sentence for', () => {
    const mistakes: readonly (readonly [what: string, arg: () => string, sentence: RegExp])[] = [
      ['an unknown flag', () => '--mapping=x', /^error: unknown option '--mapping=x'\n/],
      [
        'an unknown feature gate',
        () => '--feature-gates=WorkspaceMount=true',
        /Neither kcp nor Kubernetes has a feature gate "WorkspaceMount"\.\n/,
      ],
      [
        'a missing mapping file',
        () => `--mapping-file=${place('none')}`,
        /^oriel: .*none cannot be read \(ENOENT\): give --mapping-file a readable file\.\n$/,
      ],
      [
        'a certificate with the key of another one',
        () => `--tls-private-key-file=${place('.kcp/kcp-admin.key')}`,
        /^oriel: .*apiserver\.crt and .*kcp-admin\.key are not a key pair: .*\.\n$/,
      ],
      [
        'a root shard that does not answer',
        () => `--root-kubeconfig=${place('.kcp/gone.kubeconfig')}`,
        /^oriel: The root shard of .*gone\.kubeconfig cannot be read: .*connection refused\.\n$/,
      ],
      [
        'both names of the port',
        () => '--port=1',
        /'--secure-port <number>' cannot be used with option '--port/,
      ],
    ]
    for (const [what, arg, sentence] of mistakes)
      it(what, async () => {
        const { code, stderr } = await run(process.execPath, [compiled, 'front-proxy', ...args(), arg()])
        assert.equal(code, 1)
        assert.match(stderr, sentence)
      })
  })
})
