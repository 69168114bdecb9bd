import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { issueAuthority } from '../../../cmd/certificates/certificates.ts'
import { issueClient } from '../../support/clientcertificates.ts'
import { compiled, discard, endOf, eventually, type Oriel, startOriel } from '../../support/oriel.ts'
import { freePort } from '../../support/servers/kcp.ts'
import { readiness } from '../../support/servers/readiness.ts'

/**
 * The arguments that kcp-operator (406169b3, August 2026) uses in its Deployment of virtual workspaces; `-v` by
 * `spec.logging.level`.
 */
const operator = [
  '--client-ca-file=/etc/kcp/tls/ca/client/tls.crt',
  '--tls-private-key-file=/etc/kcp/tls/server/tls.key',
  '--tls-cert-file=/etc/kcp/tls/server/tls.crt',
  '--bind-address=0.0.0.0',
  '--secure-port=6443',
  '--requestheader-client-ca-file=/etc/kcp/tls/ca/requestheader-client/tls.crt',
  '--requestheader-allowed-names=kcp-front-proxy,kcp-root-shard-proxy',
  '--requestheader-username-headers=X-Remote-User',
  '--requestheader-group-headers=X-Remote-Group',
  '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  '--kubeconfig=/etc/kcp/logical-cluster-admin-kubeconfig/kubeconfig',
  '--shard-external-url=https://127.0.0.1:6443',
  '--cache-kubeconfig=/etc/cache-server/kubeconfig/kubeconfig',
  '-v=4',
]

/** The arguments that kcp's sharded test server uses for `virtual-workspaces`; the paths are those of the operator. */
const testServer = [
  '--kubeconfig=/etc/kcp/logical-cluster-admin-kubeconfig/kubeconfig',
  '--external-logical-cluster-admin-kubeconfig=/etc/kcp/logical-cluster-admin-kubeconfig/kubeconfig',
  '--cache-kubeconfig=/etc/cache-server/kubeconfig/kubeconfig',
  '--authentication-kubeconfig=/etc/kcp/logical-cluster-admin-kubeconfig/kubeconfig',
  '--client-ca-file=/etc/kcp/tls/ca/client/tls.crt',
  '--tls-private-key-file=/etc/kcp/tls/server/tls.key',
  '--tls-cert-file=/etc/kcp/tls/server/tls.crt',
  '--bind-address=127.0.0.1',
  '--secure-port=7444',
  '--audit-log-maxsize=1024',
  '--audit-log-mode=batch',
  '--audit-log-batch-max-wait=1s',
  '--audit-log-batch-max-size=1000',
  '--audit-log-batch-buffer-size=10000',
  '--audit-log-batch-throttle-burst=15',
  '--audit-log-batch-throttle-enable=true',
  '--audit-log-batch-throttle-qps=10',
  '--audit-policy-file=/etc/kcp/audit-policy.yaml',
  '--authentication-skip-lookup',
  '--requestheader-username-headers=X-Remote-User',
  '--requestheader-group-headers=X-Remote-Group',
  '--requestheader-client-ca-file=/etc/kcp/tls/ca/requestheader-client/tls.crt',
  '--v=4',
  '--audit-log-path',
  '/etc/kcp/audit.log',
]

const policy = 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n'
const adminKubeconfig = '/etc/kcp/logical-cluster-admin-kubeconfig/kubeconfig'

/** A kubeconfig of the operator: its files are in other mounted Secrets. */
const kubeconfig = (server: string, directory: string): string =>
  JSON.stringify({
    'current-context': 'shard-base',
    contexts: [{ name: 'shard-base', context: { cluster: 'root-shard', user: 'shard' } }],
    clusters: [
      {
        name: 'root-shard',
        cluster: { server, 'certificate-authority': `${directory}/etc/kcp/tls/ca/server/tls.crt` },
      },
    ],
    users: [
      {
        name: 'shard',
        user: {
          'client-certificate': `${directory}/etc/kcp/tls/logical-cluster-admin/tls.crt`,
          'client-key': `${directory}/etc/kcp/tls/logical-cluster-admin/tls.key`,
        },
      },
    ],
  })

describe('command lines of other programs', function () {
  this.timeout(60_000)
  let directory: string
  let shard: Oriel
  const place = (path: string): string => join(directory, path)

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oriel-commands-'))
    const users = issueAuthority()
    await put('/etc/kcp/tls/ca/client/tls.crt', users.certificate)
    shard = await startOriel({
      args: ['--store', 'memory:', '--client-ca-file', place('/etc/kcp/tls/ca/client/tls.crt')],
    })
    const { certificate, key } = await issueClient(users, { subject: 'CN=vw, O=system:masters' })
    const own = (name: string) => readFile(join(shard.directory, name), 'utf8')
    const files: Readonly<Record<string, string>> = {
      '/etc/kcp/tls/ca/server/tls.crt': await own('ca.crt'),
      '/etc/kcp/tls/ca/requestheader-client/tls.crt': issueAuthority().certificate,
      '/etc/kcp/tls/server/tls.crt': await own('apiserver.crt'),
      '/etc/kcp/tls/server/tls.key': await own('apiserver.key'),
      '/etc/kcp/tls/logical-cluster-admin/tls.crt': certificate,
      '/etc/kcp/tls/logical-cluster-admin/tls.key': key,
      '/etc/kcp/audit-policy.yaml': policy,
      [adminKubeconfig]: kubeconfig(shard.url, directory),
      '/etc/cache-server/kubeconfig/kubeconfig': kubeconfig(shard.url, directory),
    }
    for (const [path, content] of Object.entries(files)) await put(path, content)
  })
  after(async () => {
    await discard(shard)
    await rm(directory, { recursive: true })
  })

  async function put(path: string, content: string): Promise<void> {
    await mkdir(dirname(place(path)), { recursive: true })
    await writeFile(place(path), content)
  }

  const cases: readonly [who: string, args: readonly string[], ignored: readonly string[]][] = [
    ['kcp-operator', operator, ['--shard-external-url']],
    [
      "kcp's sharded test server",
      testServer,
      [
        ...['buffer-size', 'max-size', 'max-wait', 'throttle-burst', 'throttle-enable', 'throttle-qps'].map(
          name => `--audit-log-batch-${name}`,
        ),
        '--audit-log-mode',
        '--authentication-skip-lookup',
      ],
    ],
  ]
  for (const [who, args, ignored] of cases)
    it(`serves all views with the arguments of ${who}, and warns of ignored ones`, async () => {
      const port = await freePort()
      const rewritten = args.map(arg =>
        arg.replace(/^--secure-port=.*/, `--secure-port=${port}`).replace('/etc/', `${directory}/etc/`),
      )
      const child = spawn(process.execPath, [compiled, 'virtual-workspaces', ...rewritten])
      const printed: string[] = []
      child.stderr.setEncoding('utf8').on('data', chunk => printed.push(chunk))
      const checks = await eventually(
        () => readiness(`https://127.0.0.1:${port}`),
        said => said.includes('readyz check passed'),
      )
      await endOf(child, 'SIGTERM')
      for (const view of [
        'apiexport',
        'initializingworkspaces',
        'terminatingworkspaces',
        'apiresourceschema',
      ])
        assert.ok(checks.includes(`[+]${view} ok`), checks)
      const lines = printed.join('').match(/--[a-z-]+(?= is ignored)/g) ?? []
      assert.deepEqual(lines.toSorted(), ignored.toSorted())
    })
})
