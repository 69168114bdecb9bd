import assert from 'node:assert/strict'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueAuthority } from '../../../cmd/certificates/certificates.ts'
import { issueClient } from '../../support/clientcertificates.ts'
import { gadgets } from '../../support/crds.ts'
import { discard, eventually, type Oriel, readText, startOriel } from '../../support/oriel.ts'
import { type FrontProxy, startFrontProxy, writeProxyAuthority } from '../../support/servers/frontproxy.ts'
import { freePort } from '../../support/servers/kcp.ts'
import { startViews, type ViewsProcess } from '../../support/servers/standalone.ts'
import { bind, bindingOf, createWorkspaces, exportApi, type Tenant } from '../../support/tenants.ts'
import { ask, type Protocol, protocols } from '../../support/wire.ts'
import { attacksIn } from './attacklist/all.ts'
import { type Attack, type Scene, secrets } from './attacklist/attack.ts'
import { nearlyUsers } from './attacklist/credentials.ts'
import { oldAttacksIn } from './attacklist/headers.ts'

/** An entry point for requests. */
interface Door {
  readonly url: string
  readonly ca: string
  readonly at: Scene['at']
  /** Its log, and the logs of the servers behind it. */
  logged(): string
}

const policy = 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n'
const plainly: Scene['at'] = ({ path }) => `/clusters/${path}`
const brokenIn = (log: string): number => log.split('"not a request"').length
/** Each tenant has bound its own export, which claims its secrets. */
const throughView: Scene['at'] = ({ cluster }) =>
  `/services/apiexport/${cluster}/cert-manager.io/clusters/${cluster}`

/**
 * Attacks on a shard, on a front proxy before it and on a process that serves its views: none succeeds, none is a 500,
 * each is logged, and audited where there is an audit log.
 */
describe('the list of attacks', function () {
  this.timeout(240_000)
  let folder: string
  let oriel: Oriel
  let proxy: FrontProxy
  let views: ViewsProcess
  let scene: Omit<Scene, 'at'>
  const doors: Record<string, Door> = {}
  const file = (name: string): string => join(folder, name)

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-attacks-'))
    const users = issueAuthority()
    await writeFile(file('users.crt'), users.certificate)
    await writeFile(file('policy.yaml'), policy)
    const shardFlags = await writeProxyAuthority(folder)
    const tokens = `mallory-token,mallory,3\n${nearlyUsers}`
    await appendFile(file('shard-tokens.csv'), tokens)
    await writeFile(file('edge-tokens.csv'), tokens)
    const known = ['--client-ca-file', file('users.crt')]
    const proxies = shardFlags.slice(0, 2).concat('--requestheader-allowed-names', 'front-proxy')
    const debug = ['--log-level', 'debug']
    const shard = [...shardFlags, ...proxies.slice(2), ...known, ...debug, ...auditedTo('shard.log')]
    oriel = await startOriel({ args: ['--store', 'memory:', ...shard] })
    const edge = ['--token-auth-file', file('edge-tokens.csv'), ...known, ...debug]
    proxy = await startFrontProxy({ folder, name: 'front', shards: [oriel], args: edge })
    const port = await freePort()
    const more = [...known, ...proxies, ...auditedTo('views.log'), '-v', '4']
    views = await startViews({ shard: oriel, port, more, files: oriel.directory })
    const ca = await readText(join(oriel.directory, 'ca.crt'))
    doors.shard = { url: oriel.url, ca, at: plainly, logged: () => oriel.output() }
    doors['front proxy'] = {
      url: proxy.url,
      ca: await readText(file('front-data/ca.crt')),
      at: plainly,
      logged: () => oriel.output() + proxy.output(),
    }
    const url = `https://127.0.0.1:${port}`
    doors['views process'] = { url, ca, at: throughView, logged: () => views.views() }
    const strangers = issueAuthority()
    const named = { subject: 'CN=mallory' }
    scene = {
      ...(await tenants(oriel)),
      token: 'mallory-token',
      certificate: await issueClient(users, named),
      badCertificates: {
        'an expired certificate': await issueClient(users, { ...named, hours: -1 }),
        'a certificate for servers': await issueClient(users, { ...named, serverOnly: true }),
        'a certificate without a name': await issueClient(users, { subject: 'O=system:masters' }),
        'a certificate of strangers': await issueClient(strangers, { subject: 'CN=x, O=system:masters' }),
      },
    }
    await bothKnow(scene)
  })
  after(async () => {
    await proxy.stop()
    await views.end()
    await discard(oriel)
    await rm(folder, { recursive: true })
  })

  const auditedTo = (name: string): readonly string[] => [
    ...['--audit-policy-file', file('policy.yaml')],
    ...['--audit-log-path', file(name)],
  ]

  async function tenants(server: Oriel): Promise<Pick<Scene, 'home' | 'other' | 'robot' | 'foreignRobot'>> {
    const [home, other] = (await createWorkspaces(server, ['home', 'other'])) as [Tenant, Tenant]
    const admin = ['create', 'clusterrolebinding', 'mallory', '--clusterrole=cluster-admin', '--user=mallory']
    await home.kubectl(admin)
    const claim = { group: '', resource: 'secrets', verbs: ['*'] }
    for (const tenant of [home, other]) {
      const name = await exportApi(tenant, gadgets, [claim])
      const taken = { ...claim, state: 'Accepted', selector: { matchAll: true } }
      await bind(tenant, bindingOf(tenant, name, [taken]))
    }
    const robotIn = async ({ kubectl }: Tenant): Promise<string> => {
      await kubectl(['create', 'serviceaccount', 'robot'])
      const rights = ['--clusterrole=cluster-admin', '--serviceaccount=default:robot']
      await kubectl(['create', 'clusterrolebinding', 'robot', ...rights])
      return (await kubectl(['create', 'token', 'robot'])).trim()
    }
    return { home, other, robot: await robotIn(home), foreignRobot: await robotIn(other) }
  }

  /** The attacker has permission in its own workspace: otherwise a refusal elsewhere would prove nothing. */
  async function bothKnow({ home, token, certificate }: Omit<Scene, 'at'>): Promise<void> {
    for (const { url, ca, at } of Object.values(doors))
      for (const request of [{ headers: { authorization: `Bearer ${token}` } }, { client: certificate }])
        await eventually(
          () => ask('HTTP/2', url + at(home) + secrets, { ca, ...request }),
          ({ status }) => status === 200,
        )
  }

  async function attack(name: string, protocol: Protocol, { path, request, what, ...attack }: Attack) {
    const { url, ca, logged } = doors[name] as Door
    const broken = brokenIn(logged())
    const reply = await ask(protocol, url + path, { ca, ...request })
    const told = `${attack.number}. ${what}, ${protocol}: ${reply.status} ${reply.body.slice(0, 300)}`
    assert.ok(attack.codes.includes(reply.status), told)
    assert.doesNotMatch(reply.body, /"kind":"SecretList"/, told)
    const id = reply.headers['audit-id']
    await eventually(
      async () => logged(),
      // Malformed requests have no audit ID.
      log => (typeof id === 'string' ? log.includes(id) : brokenIn(log) > broken),
    )
    if (typeof id === 'string' && name !== 'front proxy') await wasAudited(name, id, reply.status)
  }

  async function wasAudited(name: string, id: string, status: number): Promise<void> {
    const log = file(name === 'shard' ? 'shard.log' : 'views.log')
    await eventually(
      // The text after the last line break is still being written.
      async () =>
        (await readText(log))
          .split('\n')
          .slice(0, -1)
          .filter(line => line.includes(id)),
      lines => lines.some(line => JSON.parse(line).responseStatus?.code === status),
    )
  }

  for (const name of ['shard', 'front proxy', 'views process'])
    for (const protocol of protocols)
      it(`fails at the ${name} over ${protocol}`, async () => {
        const seen = { ...scene, at: doors[name]?.at ?? plainly }
        for (const each of attacksIn(seen)) await attack(name, protocol, each)
        if (protocol === 'HTTP/1.1') for (const each of oldAttacksIn(seen)) await attack(name, protocol, each)
      })
})
