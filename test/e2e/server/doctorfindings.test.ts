import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueAuthority, type KeyPair } from '../../../cmd/certificates/certificates.ts'
import { type ClientCertificateOptions, issueClient } from '../../support/clientcertificates.ts'
import {
  compiled,
  discard,
  eventually,
  kubectlFor,
  type Outcome,
  readText,
  run,
} from '../../support/oriel.ts'
import { freePort } from '../../support/servers/kcp.ts'
import { readiness } from '../../support/servers/readiness.ts'
import { type Standalone, startStandalone, startViews } from '../../support/servers/standalone.ts'

const nowhere = 'https://127.0.0.1:1'
const minutesLater = 'data:text/javascript,const now = Date.now; Date.now = () => now() + 600_000'

/** The options of the doctor that differ from a correct installation. */
interface Place extends Partial<ClientCertificateOptions> {
  readonly server?: string
  /** PEM: instead of the right certificate authority. */
  readonly ca?: string
  /** Instead of a client certificate. */
  readonly token?: string
}

/** Defects of a real shard; with `KCP_BIN=…` of kcp. */
describe('oriel doctor in front of a shard', function () {
  this.timeout(240_000)
  let folder: string
  let standalone: Standalone
  /** The authority of client certificates that the shard and its views accept. */
  let users: KeyPair
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-doctor-'))
    users = issueAuthority()
    await writeFile(join(folder, 'users.crt'), users.certificate)
    const known = process.env.KCP_BIN ? [] : ['--client-ca-file', join(folder, 'users.crt')]
    standalone = await startStandalone(known, known)
    const [certificate, key] = await Promise.all(['ca.crt', 'ca.key'].map(own))
    if (process.env.KCP_BIN) users = { certificate: certificate ?? '', key: key ?? '' }
    await eventually(
      () => readiness(standalone.viewsUrl),
      said => said.includes('check passed'),
    )
  })
  after(async () => {
    await discard(standalone)
    await rm(folder, { recursive: true })
  })

  const own = (name: string): Promise<string> => readText(join(standalone.files, name))
  const base64 = (text: string): string => Buffer.from(text).toString('base64')

  async function userOf({ token, hours = 24 * 90, subject = 'CN=doctor, O=system:masters' }: Place) {
    if (token !== undefined) return { token }
    const { certificate, key } = await issueClient(users, { subject, hours })
    return { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) }
  }

  async function kubeconfigOf(place: Place, name = 'kubeconfig'): Promise<string> {
    const { server = standalone.url, ca = await own('ca.crt') } = place
    const path = join(folder, name)
    const config = {
      'current-context': 'shard',
      contexts: [{ name: 'shard', context: { cluster: 'shard', user: 'doctor' } }],
      clusters: [{ name: 'shard', cluster: { server, 'certificate-authority-data': base64(ca) } }],
      users: [{ name: 'doctor', user: await userOf(place) }],
    }
    await writeFile(path, JSON.stringify(config))
    return path
  }

  interface Examination {
    readonly node?: readonly string[]
    readonly more?: readonly string[]
  }
  async function examine(place: Place, { node = [], more = [] }: Examination = {}): Promise<Outcome> {
    const kubeconfig = await kubeconfigOf(place)
    return run(process.execPath, [...node, compiled, 'doctor', '--kubeconfig', kubeconfig, ...more])
  }
  const shows = ({ stdout }: Outcome, lines: readonly RegExp[]): void => {
    for (const line of lines) assert.match(stdout, line)
  }

  it('reports no problem of a correct installation', async () => {
    const outcome = await examine({})
    assert.equal(outcome.code, 0, outcome.stdout)
    shows(
      outcome,
      [
        ...['server', 'certificate', 'client certificate', 'clock', 'credentials', 'wildcard'],
        ...['impersonation', 'reviews', 'views of root', 'header trust'],
      ].map(check => new RegExp(`^\\[ ok \\] ${check}: `, 'm')),
    )
    shows(outcome, [
      /^\[ ok \] views of root: it serves .*workspaces.*namespaces.*; not mounts, because \S.*; not views, because /m,
      /(warn\] feature gates: LogicalClusterMigration is off|- {2}\] feature gates: the shard has no feature gates)/,
    ])
  })

  const cases: readonly [what: string, place: Place, lines: readonly RegExp[]][] = [
    ['an unreachable server', { server: nowhere }, [/^\[FAIL\] server: .*connection refused$/m]],
    [
      'another certificate authority',
      { ca: issueAuthority().certificate },
      [/^\[FAIL\] (server|certificate): .*signed by an unknown authority$/m],
    ],
    [
      'a client certificate that has expired',
      { hours: -1 },
      [
        /^\[FAIL\] client certificate: .*has expired on .*\n +-> renew the client certificate/m,
        /^\[FAIL\] credentials: .* rejects them$/m,
      ],
    ],
    [
      'a client certificate that expires within days',
      { hours: 24 },
      [/^\[warn\] client certificate: .* is valid until .*$/m],
    ],
    ['an unknown token', { token: 'withdrawn' }, [/^\[FAIL\] credentials: .* rejects them$/m]],
    [
      'a user without permissions',
      { subject: 'CN=somebody' },
      [
        /^\[FAIL\] wildcard: .*403\n +-> use credentials in the group system:masters/m,
        /^\[FAIL\] impersonation: .*403$/m,
        /^\[FAIL\] reviews: .*403$/m,
        /^\[ - {2}\] feature gates: .*403$/m,
        /^\[FAIL\] views: no Shard has spec\.virtualWorkspaceURL, or Shards cannot be read$/m,
        /^\[ - {2}\] published URLs: endpoint slices cannot be read: 403$/m,
      ],
    ],
  ]
  for (const [what, place, lines] of cases)
    it(`reports what to change for ${what}`, async () => {
      const outcome = await examine(place)
      shows(outcome, lines)
      assert.equal(outcome.code, lines.some(({ source }) => source.includes('FAIL')) ? 1 : 0)
    })

  it('reports a clock difference', async () => {
    shows(await examine({}, { node: ['--import', minutesLater] }), [
      /^\[FAIL\] clock: .* differ by (59|60)\d s\n +-> run NTP/m,
    ])
  })

  it('reports that the views do not trust the certificate authority of users', async () => {
    const { certificate, key } = await issueClient(issueAuthority(), { subject: 'CN=front-proxy' })
    const [certFile, keyFile] = [join(folder, 'proxy.crt'), join(folder, 'proxy.key')]
    await writeFile(certFile, certificate)
    await writeFile(keyFile, key)
    const more = ['--client-cert-file', certFile, '--client-key-file', keyFile]
    shows(await examine({}, { more }), [
      /^\[FAIL\] front proxy: .*rejects X-Remote-User.*\n +-> add its authority/m,
    ])
  })

  async function advertising(url: string, look: () => Promise<void>): Promise<void> {
    const kubectl = kubectlFor(standalone, 'shard-base').at('/clusters/root')
    const advertise = (virtualWorkspaceURL: string): Promise<string> =>
      kubectl([
        'patch',
        'shard',
        'root',
        '--type=merge',
        '-p',
        JSON.stringify({ spec: { virtualWorkspaceURL } }),
      ])
    await advertise(url)
    await look().finally(() => advertise(standalone.viewsUrl))
  }

  it('reports an advertised URL without a server, and outdated URLs', () =>
    advertising(nowhere, async () => {
      shows(await examine({}), [
        /^\[FAIL\] views of root: https:\/\/127\.0\.0\.1:1 is advertised: connection refused\n +-> start the server, or correct --shard-virtual-workspace-url/m,
        /^\[(FAIL| - {2})\] published URLs: /m,
      ])
    }))

  it('names the views that are not ready', async () => {
    const port = await freePort()
    const kubeconfig = await kubeconfigOf({ server: nowhere }, 'cache')
    const { shard, files } = standalone
    const more = ['--cache-kubeconfig', kubeconfig, '--context', 'shard']
    const own = { ...shard, kubeconfig: await kubeconfigOf({}, 'views'), stop: async () => 0 }
    const views = await startViews({ shard: own, port, files, more })
    await advertising(`https://127.0.0.1:${port}`, async () => {
      shows(await examine({}), [/^\[warn\] views of root: not ready: .*apiexport/m])
    }).finally(() => views.stop())
  })
})
