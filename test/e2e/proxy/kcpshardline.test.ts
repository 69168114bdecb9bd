import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { issueAuthority, issueServing } from '../../../cmd/certificates/certificates.ts'
import { signingKeys } from '../../../framework/authn/index.ts'
import { issueClient } from '../../support/clientcertificates.ts'
import {
  compiled,
  eventually,
  type Kubectl,
  kubectlFor,
  type Oriel,
  readText,
  run,
  startOriel,
} from '../../support/oriel.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply } from '../../support/tenants.ts'

type Authority = ReturnType<typeof issueAuthority>

/** A kubeconfig of kcp's test server: files, and the group of administrators of logical clusters. */
const kubeconfig = (server: string, place: (path: string) => string, user: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'base',
    clusters: [{ name: 'base', cluster: { server, 'certificate-authority': place('.kcp/serving-ca.crt') } }],
    contexts: [{ name: 'base', context: { cluster: 'base', user } }],
    users: [
      {
        name: user,
        user: {
          'client-certificate': place(`.kcp/${user}.crt`),
          'client-key': place(`.kcp/${user}.key`),
        },
      },
    ],
  })

describe("shards with the command line of kcp's sharded test server", function () {
  this.timeout(120_000)
  let work: string
  const shards: Oriel[] = []
  const place = (path: string): string => join(work, path)
  const put = async (path: string, content: string): Promise<void> => {
    await mkdir(dirname(place(path)), { recursive: true })
    await writeFile(place(path), content)
  }
  const issue = async (path: string, authority: Authority, subject: string): Promise<void> => {
    const { certificate, key } = await issueClient(authority, { subject })
    await put(`${path}.crt`, certificate)
    await put(`${path}.key`, key)
  }

  /** kcp cmd/sharded-test-server/shard.go, newShard, and cmd/test-server/kcp/shard.go, Start; the ports are free ones. */
  const args = (index: number): readonly string[] => [
    `--shard-name=${index === 0 ? 'root' : `shard-${index}`}`,
    ...['--embedded-etcd-client-port=2379', '--embedded-etcd-peer-port=2380'],
    ...(index === 0 ? [] : [`--root-shard-kubeconfig-file=${place('.kcp-0/admin.kubeconfig')}`]),
    `--client-ca-file=${place('.kcp/client-ca.crt')}`,
    `--requestheader-client-ca-file=${place('.kcp/requestheader-ca.crt')}`,
    ...['--requestheader-username-headers=X-Remote-User', '--requestheader-group-headers=X-Remote-Group'],
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--service-account-key-file=${place('.kcp/service-account.crt')}`,
    `--service-account-private-key-file=${place('.kcp/service-account.key')}`,
    `--service-account-signing-key-file=${place('.kcp/service-account.key')}`,
    ...['--audit-log-path', place(`.kcp-${index}/audit.log`)],
    '--shard-external-url=https://127.0.0.1:6443',
    `--tls-cert-file=${place(`.kcp-${index}/apiserver.crt`)}`,
    `--tls-private-key-file=${place(`.kcp-${index}/apiserver.key`)}`,
    `--logical-cluster-admin-kubeconfig=${place('.kcp/logical-cluster-admin.kubeconfig')}`,
    `--external-logical-cluster-admin-kubeconfig=${place('.kcp/logical-cluster-admin.kubeconfig')}`,
    `--shard-client-cert-file=${place('.kcp/shard-client.crt')}`,
    `--shard-client-key-file=${place('.kcp/shard-client.key')}`,
    `--shard-virtual-workspace-ca-file=${place('.kcp/serving-ca.crt')}`,
    `--mount-proxy-client-cert-file=${place('.kcp/shard-client.crt')}`,
    `--mount-proxy-client-key-file=${place('.kcp/shard-client.key')}`,
    `--cache-kubeconfig=${place('.kcp-cache/cache.kubeconfig')}`,
    ...['--bind-address=127.0.0.1', '--audit-log-maxsize', '1024', '--audit-log-mode=batch'],
    ...['--audit-log-batch-max-wait=1s', '--audit-log-batch-max-size=1000'],
    ...['--audit-log-batch-buffer-size=10000', '--audit-log-batch-throttle-burst=15'],
    ...['--audit-log-batch-throttle-enable=true', '--audit-log-batch-throttle-qps=10'],
    ...['--audit-policy-file', place('audit-policy.yaml'), '--feature-gates=WorkspaceMounts=true'],
  ]

  async function startShard(index: number, serving: Authority): Promise<Oriel> {
    const { certificate, key } = issueServing(serving, ['localhost', '127.0.0.1'])
    await put(`.kcp-${index}/apiserver.crt`, `${certificate}${serving.certificate}`)
    await put(`.kcp-${index}/apiserver.key`, key)
    return startOriel({ directory: place(`.kcp-${index}`), args: args(index) })
  }

  let root: Kubectl

  before(async () => {
    work = await temporaryDirectory('shardline')
    const [clients, headers, serving, accounts] = Array.from({ length: 4 }, () => issueAuthority())
    assert.ok(clients && headers && serving && accounts)
    await put('.kcp/client-ca.crt', clients.certificate)
    await put('.kcp/requestheader-ca.crt', headers.certificate)
    await put('.kcp/serving-ca.crt', serving.certificate)
    await put('.kcp/service-account.crt', accounts.certificate)
    await put('.kcp/service-account.key', accounts.key)
    await put('audit-policy.yaml', 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n')
    await issue('.kcp/logical-cluster-admin', clients, 'CN=admin, O=system:kcp:logical-cluster-admin')
    await issue('.kcp/shard-client', clients, 'CN=kcp-shard, O=system:masters')
    const administrators = kubeconfig('https://127.0.0.1:1', place, 'logical-cluster-admin')
    await put('.kcp/logical-cluster-admin.kubeconfig', administrators)
    // A cache server that is not there.
    await put('.kcp-cache/cache.kubeconfig', administrators)
    for (const index of [0, 1]) shards.push(await startShard(index, serving))
    const [first] = shards
    assert.ok(first)
    root = kubectlFor(first, 'root')
    await root(['wait', '--for=create', '--timeout=60s', 'shard/shard-1'])
  })
  after(() => Promise.all(shards.map(shard => shard.stop())))

  it('schedule workspaces on each other, with the client certificate of the shards', async () => {
    const selector = { matchLabels: { name: 'shard-1' } }
    await apply(root, {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'Workspace',
      metadata: { name: 'far' },
      spec: { location: { selector } },
    })
    await root(['wait', '--for=jsonpath={.status.phase}=Ready', '--timeout=60s', 'workspace/far'])
    assert.equal(
      await root(['get', 'workspace', 'far', '-o', 'jsonpath={.spec.URL}']),
      'https://127.0.0.1:6443/clusters/root:far',
    )
  })

  it('sign tokens with the key of --service-account-signing-key-file, which all shards verify', async () => {
    await root(['create', 'serviceaccount', 'robot'])
    const token = (await root(['create', 'token', 'robot'])).trim()
    const { keys } = await signingKeys(await readText(place('.kcp/service-account.crt'))).published()
    const header = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as {
      kid: string
    }
    assert.deepEqual(
      keys.map(({ kid }) => kid),
      [header.kid],
    )
    const args = ['--token', token, 'auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}']
    const { stdout } = await eventually(
      () => root.try(args),
      ({ code }) => code === 0,
    )
    assert.equal(stdout, 'system:serviceaccount:default:robot')
  })

  it('end with one sentence when a key of the client certificate is missing', async () => {
    const more = args(1).filter(arg => !arg.startsWith('--shard-client-key-file'))
    const line = [compiled, 'start', '--data-directory', place('other'), '--port', '0', ...more]
    const { code, stderr } = await run(process.execPath, line)
    assert.equal(code, 1)
    const sentences = stderr.split('\n').filter(text => text.startsWith('oriel: '))
    assert.deepEqual(sentences, [
      'oriel: --shard-client-cert-file and --shard-client-key-file must be specified together: add the missing one.',
    ])
  })
})
