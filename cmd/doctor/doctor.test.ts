import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { compiled, type Outcome, run } from '../../test/support/oriel.ts'
import { type SickOptions, startSickServer } from '../../test/support/servers/sickserver.ts'
import type { Finding } from './finding.ts'

/** Runs `oriel doctor` for a server with a defect. */
async function examined(options: SickOptions, more: readonly string[] = []): Promise<Outcome> {
  const server = await startSickServer(options)
  const proxyFlags = [
    '--client-cert-file',
    join(server.directory, 'proxy.crt'),
    '--client-key-file',
    join(server.directory, 'proxy.key'),
  ]
  try {
    return await run(process.execPath, [
      compiled,
      'doctor',
      '--kubeconfig',
      server.kubeconfig,
      ...proxyFlags,
      ...more,
    ])
  } finally {
    server.close()
    await rm(server.directory, { recursive: true })
  }
}

const anywhere = 'https://127.0.0.1:1'
const minutes = (count: number): string => new Date(Date.now() + count * 60_000).toUTCString()

const throttled = {
  priorityLevel: 'mutating',
  user: 'eve',
  workspace: '/root',
  executing: 3,
  waiting: 2,
  stalled: 0,
  rejected: 7,
  lastRejected: new Date().toISOString(),
}
const idle = { ...throttled, user: 'bob', rejected: 9, lastRejected: '2026-01-01T00:00:00Z' }

/** A defect, and the line that reports it and what to change. */
const sick: readonly [name: string, options: SickOptions, line: RegExp][] = [
  [
    'a certificate for other names',
    { names: ['example.com'] },
    /FAIL\] certificate: .*for another host\n.*use a host name of its certificate in server in the kubeconfig/,
  ],
  [
    'another certificate authority',
    { otherAuthority: true },
    /FAIL\] certificate: .*signed by an unknown authority\n.*certificate-authority in the kubeconfig/,
  ],
  [
    'a client certificate that has expired',
    { hours: -1 },
    /FAIL\] client certificate: .*has expired on .*\n.*renew the client certificate/,
  ],
  [
    'a client certificate of a clock that is ahead',
    { hours: 48, from: 24 },
    /FAIL\] client certificate: .*is not valid before .*\n.*check the clock of this machine, or renew the client/,
  ],
  [
    'a client certificate that expires within days',
    { hours: 24 },
    /warn\] client certificate: .*valid until .*\n.*renew the client certificate/,
  ],
  [
    'credentials that are rejected',
    { sick: ({ path }) => (path.endsWith('/selfsubjectreviews') ? { status: 401 } : undefined) },
    /FAIL\] credentials: .*rejects them\n.*renew the token or client certificate/,
  ],
  [
    'a clock that is slow',
    {
      sick: ({ path }) =>
        path === '/version' ? { status: 200, body: {}, headers: { date: minutes(-10) } } : undefined,
    },
    /FAIL\] clock: .* differ by 60\d s\n.*run NTP/,
  ],
  [
    'a user whose requests were refused',
    {
      sick: ({ path }) =>
        path.endsWith('/flows') ? { status: 200, body: { flows: [throttled, idle] } } : undefined,
    },
    /warn\] fair shares: 7 mutating requests of user "eve" at "\/root" were refused \(now 3 .*\n.*raise --max-mutating-requests-inflight/,
  ],
  [
    'no permission for all logical clusters',
    { sick: ({ path }) => (path.startsWith('/clusters/*/apis/core') ? { status: 403 } : undefined) },
    /FAIL\] wildcard: .*403\n.*system:masters/,
  ],
  [
    'no permission to impersonate',
    {
      sick: ({ headers }) =>
        headers['impersonate-user']
          ? { status: 403, body: { message: 'User "x" cannot impersonate resource "users"' } }
          : undefined,
    },
    /FAIL\] impersonation: .*403\n.*system:masters/,
  ],
  [
    'no permission for reviews',
    { sick: ({ path }) => (path.endsWith('/subjectaccessreviews') ? { status: 403 } : undefined) },
    /FAIL\] reviews: .*403/,
  ],
  [
    'disabled feature gates',
    {},
    /warn\] feature gates: LogicalClusterMigration is off.*\n.*--feature-gates=LogicalClusterMigration=true/,
  ],
  [
    'views without an advertised URL',
    { sick: ({ path }) => (path.endsWith('/shards') ? { status: 200, body: { items: [] } } : undefined) },
    /FAIL\] views: no Shard has spec\.virtualWorkspaceURL.*\n.*--shard-virtual-workspace-url/,
  ],
  [
    'an advertised URL where nothing listens',
    {
      sick: ({ path }) =>
        path.endsWith('/shards')
          ? {
              status: 200,
              body: { items: [{ metadata: { name: 'eu' }, spec: { virtualWorkspaceURL: anywhere } }] },
            }
          : undefined,
    },
    /FAIL\] views of eu: .*connection refused\n.*--shard-virtual-workspace-url/,
  ],
  [
    'views that are not ready',
    {
      sick: ({ path }) =>
        path.startsWith('/readyz')
          ? { status: 500, body: '[+]apiexport ok\n[-]replication failed: reason withheld\n' }
          : undefined,
    },
    /warn\] views of root: not ready: replication\n/,
  ],
  [
    'another service at the advertised URL',
    { sick: ({ path }) => (path.startsWith('/services') ? { status: 502 } : undefined) },
    /FAIL\] views of root: .*responds with 502\n/,
  ],
  [
    'a server without views at the advertised URL',
    { sick: ({ path }) => (path.startsWith('/services') ? { status: 404, body: 'not found' } : undefined) },
    /FAIL\] views of root: .* does not serve views: it responds with 404\n.*correct --shard-virtual-workspace-url/,
  ],
  [
    'a web server at the advertised URL',
    {
      sick: ({ path }) => (path.startsWith('/services') ? { status: 200, body: '<html></html>' } : undefined),
    },
    /FAIL\] views of root: .* does not serve views: it responds with 200\n/,
  ],
  [
    'a shard without views at the advertised URL',
    {
      sick: ({ path }) =>
        path.startsWith('/services')
          ? { status: 403, body: { message: `forbidden: User "shard-admin" cannot get path "${path}"` } }
          : undefined,
    },
    /FAIL\] views of root: .* does not serve views: it responds with 403\n/,
  ],
  [
    'a published URL that is not advertised',
    {
      sick: ({ path }) =>
        path.endsWith('/apiexportendpointslices')
          ? {
              status: 200,
              body: {
                items: [
                  { metadata: { name: 'old' }, status: { endpoints: [{ url: `${anywhere}/services/x` }] } },
                ],
              },
            }
          : undefined,
    },
    /FAIL\] published URLs: old lists https:\/\/127.0.0.1:1\/services\/x, which no shard advertises\n/,
  ],
  [
    'a published URL that is not served',
    { sick: ({ path }) => (path.endsWith('/widgets/clusters/*/apis') ? { status: 404 } : undefined) },
    /FAIL\] published URLs: widgets lists .*, which responds with 404\n/,
  ],
  [
    'identity headers that are accepted from all clients',
    {
      sick: ({ headers }) =>
        headers['x-remote-user']
          ? { status: 403, body: { message: 'User "oriel-doctor" cannot' } }
          : undefined,
    },
    /FAIL\] header trust: .*from clients without a certificate\n.*--requestheader-client-ca-file/,
  ],
  [
    'identity headers that are rejected from the front proxy',
    {
      sick: ({ headers }) =>
        headers['x-remote-user']
          ? { status: 403, body: { message: 'User "system:anonymous" cannot' } }
          : undefined,
    },
    /FAIL\] front proxy: .*rejects X-Remote-User.*\n.*--requestheader-allowed-names/,
  ],
]

describe('oriel doctor', function () {
  this.timeout(60_000)

  it('reports no problem of a correct installation', async () => {
    const { code, stdout } = await examined({ hours: 24 * 365 })
    assert.equal(code, 0, stdout)
    assert.ok(!stdout.includes('FAIL'), stdout)
    assert.match(stdout, /ok \] front proxy: .* accepts X-Remote-User with this client certificate/)
    assert.match(stdout, /ok \] published URLs: 1 are served/)
  })

  for (const [name, options, line] of sick)
    it(`reports what to change for ${name}`, async () => {
      const { code, stdout } = await examined({ hours: 24 * 365, ...options })
      assert.match(stdout, line)
      assert.equal(code, /FAIL/.test(line.source) ? 1 : 0, stdout)
    })

  it('reports what to change for an unreachable server and an invalid kubeconfig', async () => {
    const server = await startSickServer()
    server.close()
    const gone = await run(process.execPath, [compiled, 'doctor', '--kubeconfig', server.kubeconfig])
    assert.match(gone.stdout, /FAIL\] server: .*connection refused\n.*correct server in the kubeconfig/)
    const none = await run(process.execPath, [compiled, 'doctor', '--kubeconfig', server.directory])
    assert.match(none.stdout, /FAIL\] kubeconfig: .*cannot be read/)
    assert.deepEqual([gone.code, none.code], [1, 1])
    await rm(server.directory, { recursive: true })
  })

  it('reports invalid flags in one line', async () => {
    const at = ['doctor', '--kubeconfig', 'anywhere', '--client-cert-file', 'nowhere.crt']
    const half = await run(process.execPath, [compiled, ...at])
    assert.equal(
      half.stderr,
      'oriel: --client-cert-file and --client-key-file must be specified together: add the missing one.\n',
    )
    const missing = await run(process.execPath, [compiled, ...at, '--client-key-file', 'nowhere.key'])
    assert.match(missing.stderr, /^oriel: .*--client-(cert|key)-file.*\n$/)
    assert.deepEqual([half.code, missing.code], [1, 1])
  })

  it('prints the same as JSON', async () => {
    const { code, stdout } = await examined({ hours: -1 }, ['-o', 'json'])
    const findings = JSON.parse(stdout) as readonly Finding[]
    assert.equal(code, 1)
    const wrong = findings.filter(({ status }) => status === 'failed')
    assert.ok(
      wrong.some(({ check, change }) => check === 'client certificate' && change?.startsWith('renew')),
    )
  })

  it('names the certificate, not the response to a request without credentials, for a published URL', async () => {
    const views = await startSickServer()
    const status = { endpoints: [{ url: `${views.url}/services/x` }] }
    const slice = { metadata: { name: 'widgets' }, status }
    const shard = { metadata: { name: 'root' }, spec: { virtualWorkspaceURL: views.url } }
    const { stdout } = await examined({
      sick: ({ path }) => {
        const item = { shards: shard, apiexportendpointslices: slice }[path.split('/').at(-1) ?? '']
        return item && { status: 200, body: { items: [item] } }
      },
    })
    assert.match(stdout, /FAIL\] published URLs: widgets lists .*: its certificate is signed by an unknown/)
    views.close()
    await rm(views.directory, { recursive: true })
  })

  it('does not send credentials to a server with an untrusted certificate, and does not say that they are wrong', async () => {
    const seen: (string | undefined)[] = []
    const { stdout } = await examined({
      otherAuthority: true,
      sick: ({ commonName }) => {
        seen.push(commonName)
        return undefined
      },
    })
    assert.ok(seen.length > 0 && seen.every(name => name === undefined))
    assert.match(stdout, /^\[ - {2}\] credentials: not sent to a server whose certificate is not trusted$/m)
    assert.doesNotMatch(stdout, /FAIL\] credentials/)
  })
})
