import assert from 'node:assert/strict'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { issueAuthority } from '../../cmd/certificates.ts'
import { issueClient } from '../support/clientcertificates.ts'
import { type FrontProxy, startFrontProxy, writeProxyAuthority } from '../support/frontproxy.ts'
import { discard, eventually, type Oriel, readText, startOriel } from '../support/oriel.ts'
import { createWorkspaces, type Tenant } from '../support/tenants.ts'
import { ask, type Protocol, protocols } from '../support/wire.ts'
import { type Attack, attacksIn, oldAttacksIn, type Scene, secrets } from './attacklist.ts'

/** Where somebody comes in. */
interface Door {
  readonly url: string
  readonly ca: string
}

/** The attacks of chapter 30, section 6.3, on a shard and on a front proxy before it: none succeeds, each is logged. */
describe('the list of attacks', function () {
  this.timeout(240_000)
  let folder: string
  let oriel: Oriel
  let proxy: FrontProxy
  let scene: Scene
  const doors: Record<string, Door> = {}

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-attacks-'))
    const users = issueAuthority()
    await writeFile(join(folder, 'users.crt'), users.certificate)
    const known = ['--client-ca-file', join(folder, 'users.crt'), '--log-level', 'debug']
    const shardFlags = await writeProxyAuthority(folder)
    await appendFile(join(folder, 'shard-tokens.csv'), 'mallory-token,mallory,3\n')
    await writeFile(join(folder, 'edge-tokens.csv'), 'mallory-token,mallory,3\n')
    const allowed = ['--requestheader-allowed-names', 'front-proxy']
    oriel = await startOriel({ args: ['--store', 'memory:', ...shardFlags, ...allowed, ...known] })
    const edge = ['--token-auth-file', join(folder, 'edge-tokens.csv'), ...known]
    proxy = await startFrontProxy({ folder, name: 'front', shards: [oriel], args: edge })
    doors.shard = { url: oriel.url, ca: await readText(join(oriel.directory, 'ca.crt')) }
    doors['front proxy'] = { url: proxy.url, ca: await readText(join(folder, 'front-data', 'ca.crt')) }
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
    await discard(oriel)
    await rm(folder, { recursive: true })
  })

  async function tenants(server: Oriel): Promise<Pick<Scene, 'home' | 'other' | 'robot' | 'foreignRobot'>> {
    const [home, other] = (await createWorkspaces(server, ['home', 'other'])) as [Tenant, Tenant]
    const admin = ['create', 'clusterrolebinding', 'mallory', '--clusterrole=cluster-admin', '--user=mallory']
    await home.kubectl(admin)
    const robotIn = async ({ kubectl }: Tenant): Promise<string> => {
      await kubectl(['create', 'serviceaccount', 'robot'])
      const rights = ['--clusterrole=cluster-admin', '--serviceaccount=default:robot']
      await kubectl(['create', 'clusterrolebinding', 'robot', ...rights])
      return (await kubectl(['create', 'token', 'robot'])).trim()
    }
    return { home, other, robot: await robotIn(home), foreignRobot: await robotIn(other) }
  }

  /** The attacker may do at home what is refused elsewhere: otherwise nothing here would mean anything. */
  async function bothKnow({ home, token, certificate }: Scene): Promise<void> {
    const path = `/clusters/${home.path}${secrets}`
    for (const { url, ca } of Object.values(doors))
      for (const request of [{ headers: { authorization: `Bearer ${token}` } }, { client: certificate }])
        await eventually(
          () => ask('HTTP/2', url + path, { ca, ...request }),
          ({ status }) => status === 200,
        )
  }

  async function attack(name: string, protocol: Protocol, { path, request, what, ...attack }: Attack) {
    const { url, ca } = doors[name] as Door
    const reply = await ask(protocol, url + path, { ca, ...request })
    const told = `${attack.number}. ${what}, ${protocol}: ${reply.status} ${reply.body.slice(0, 300)}`
    assert.ok(attack.codes.includes(reply.status), told)
    assert.doesNotMatch(reply.body, /"kind":"SecretList"/, told)
    const id = reply.headers['audit-id']
    if (typeof id === 'string')
      await eventually(
        async () => oriel.output() + proxy.output(),
        output => output.includes(id),
      )
  }

  for (const name of ['shard', 'front proxy'])
    for (const protocol of protocols)
      it(`fails at the ${name} over ${protocol}`, async () => {
        for (const each of attacksIn(scene)) await attack(name, protocol, each)
        if (protocol === 'HTTP/1.1')
          for (const each of oldAttacksIn(scene)) await attack(name, protocol, each)
      })
})
