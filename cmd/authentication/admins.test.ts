import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { sha256 } from '../../framework/authn/index.ts'
import { writePrivately } from '../files/files.ts'
import { adminKubeconfig } from '../files/kubeconfig.ts'
import { type Admins, prepareAdmins } from './admins.ts'

describe('administrators', () => {
  let directory: string
  let kubeconfig: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oriel-admins-'))
    kubeconfig = join(directory, 'admin.kubeconfig')
  })
  afterEach(() => rm(directory, { recursive: true }))

  const written = ({ kcpAdminToken, shardAdminToken }: Admins): string =>
    adminKubeconfig({ server: 'https://localhost:6443', ca: 'CA', kcpAdminToken, shardAdminToken })

  async function start(): Promise<Admins> {
    const admins = await prepareAdmins(directory, kubeconfig)
    await writePrivately(kubeconfig, written(admins))
    return admins
  }

  it('are in their groups, authenticated by the digest of their token', async () => {
    const { users, kcpAdminToken, shardAdminToken } = await start()
    assert.deepEqual(
      users.map(({ user, sha256 }) => [user.name, user.groups, sha256]),
      [
        ['kcp-admin', ['system:kcp:admin'], sha256(kcpAdminToken)],
        ['shard-admin', ['system:masters'], sha256(shardAdminToken)],
      ],
    )
  })

  it('keep the token of shard-admin across restarts, and only its digest in the data directory', async () => {
    const [first, second] = [await start(), await start()]
    assert.equal(second.shardAdminToken, first.shardAdminToken)
    assert.notEqual(second.kcpAdminToken, first.kcpAdminToken)
    assert.deepEqual(await readFile(join(directory, '.admin-token-store')), sha256(first.shardAdminToken))
  })

  it('get a new token when the kubeconfig is gone', async () => {
    const first = await start()
    await rm(kubeconfig)
    assert.notEqual((await start()).shardAdminToken, first.shardAdminToken)
  })

  it('refuse the kubeconfig of before a start with another one, and name both ways out', async () => {
    await start()
    const other = await prepareAdmins(directory, join(directory, 'other.kubeconfig'))
    await assert.rejects(
      start(),
      /because a later start has written a new one to another --kubeconfig-path: give that path, or remove .*token-store/,
    )
    await rm(join(directory, '.admin-token-store'))
    assert.notEqual((await start()).shardAdminToken, other.shardAdminToken)
  })

  it('keep their token when a start fails because its kubeconfig cannot be written', async () => {
    const first = await start()
    const elsewhere = join(directory, 'none', 'admin.kubeconfig')
    await assert.rejects(prepareAdmins(directory, elsewhere), {
      name: 'StartError',
      message: `${elsewhere} cannot be written (ENOENT): choose another --kubeconfig-path, or make its directory.`,
    })
    assert.equal((await start()).shardAdminToken, first.shardAdminToken)
  })

  it('refuse a kubeconfig with another token', async () => {
    const admins = await start()
    await writeFile(kubeconfig, written({ ...admins, shardAdminToken: 'other' }))
    await assert.rejects(
      start(),
      /The shard-admin token in .*admin.kubeconfig is no longer valid, .* or remove .*token-store/,
    )
    await writeFile(kubeconfig, '{')
    await assert.rejects(start(), /admin.kubeconfig is not a kubeconfig: remove it/)
  })

  it('have a kubeconfig with kcp’s contexts, readable by its owner only', async () => {
    const admins = await start()
    assert.equal((await stat(kubeconfig)).mode & 0o777, 0o600)
    const config = new KubeConfig()
    config.loadFromFile(kubeconfig)
    assert.equal(config.getCurrentContext(), 'root')
    const seen = config.getContexts().map(({ name }) => {
      config.setCurrentContext(name)
      const [cluster, user] = [config.getCurrentCluster(), config.getCurrentUser()]
      return [name, cluster?.server, cluster?.caData, user?.name, user?.token]
    })
    const [url, ca] = ['https://localhost:6443', Buffer.from('CA').toString('base64')]
    const kcpAdmin = ['kcp-admin', admins.kcpAdminToken]
    const shardAdmin = ['shard-admin', admins.shardAdminToken]
    assert.deepEqual(seen, [
      ['root', `${url}/clusters/root`, ca, ...kcpAdmin],
      ['base', url, ca, ...kcpAdmin],
      ['system:admin', `${url}/clusters/system:admin`, ca, ...shardAdmin],
      ['shard-base', url, ca, ...shardAdmin],
    ])
  })
})
