import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { notRun } from '../../test/support/notrun.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from '../../test/support/servers/etcd.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { ownAdminTokens } from '../authentication/admins.ts'
import { newServiceAccountKey } from '../certificates/serviceaccountkey.ts'
import { prepareSharedKeys } from './sharedkeys.ts'

const names = ['sa.key', 'ca.key', 'ca.crt', 'installation']

if (etcdProgram() === undefined) notRun('keys in etcd', noEtcd)
else
  describe('keys in etcd', () => {
    let etcd: Etcd
    let prefixes = 0
    let etcdPrefix: string
    before(async () => {
      etcd = await startEtcd()
    })
    after(() => etcd.stop())
    beforeEach(() => {
      etcdPrefix = `/keys${++prefixes}`
    })

    const prepare = (directory: string, more: object = {}) =>
      prepareSharedKeys({
        directory,
        where: `etcd://${etcd.endpoint}`,
        ownTokens: () => ownAdminTokens(directory, join(directory, 'admin.kubeconfig')),
        flags: { etcdPrefix, etcdSharedKeys: true, etcdCompactionInterval: 0, ...more },
      })

    const contents = (directory: string) =>
      Promise.all(names.map(name => readFile(join(directory, name), 'utf8')))

    it('are those of the first server for all servers, also for ones that start at the same time', async () => {
      const directories = await Promise.all([1, 2, 3].map(() => temporaryDirectory('keys')))
      const tokens = await Promise.all(directories.map(directory => prepare(directory)))
      const [first, ...others] = await Promise.all(directories.map(contents))
      for (const other of others) assert.deepEqual(other, first)
      for (const other of tokens) assert.deepEqual(other, tokens[0])
      assert.notEqual(tokens[0]?.kcpAdminToken, tokens[0]?.shardAdminToken)
    })

    it('keep those of a data directory that was used before', async () => {
      const directory = await temporaryDirectory('keys')
      await prepare(directory)
      const own = await contents(directory)
      await rm(join(directory, 'installation'))
      etcdPrefix = `/keys${++prefixes}`
      await prepare(directory)
      assert.deepEqual((await contents(directory)).slice(0, 3), own.slice(0, 3))
    })

    it('do not replace the key of service accounts that an operator has changed', async () => {
      const directory = await temporaryDirectory('keys')
      await prepare(directory)
      const path = join(directory, 'sa.key')
      const former = await readFile(path, 'utf8')
      const changed = `${newServiceAccountKey()}${former}`
      await writeFile(path, changed)
      await assert.rejects(
        prepare(directory),
        /sa.key differs from the key of the installation in etcd: .* --service-account-key-file, first with/,
      )
      assert.equal(await readFile(path, 'utf8'), changed)
      await prepare(directory, { serviceAccountKeyFile: path })
      await rm(path)
      await prepare(directory)
      assert.equal(await readFile(path, 'utf8'), former)
    })

    it('are not replaced by a server whose clock is so slow that the authority is not valid yet', async () => {
      const [directory, other] = [await temporaryDirectory('keys'), await temporaryDirectory('keys')]
      await prepare(directory)
      const first = await contents(directory)
      const now = Date.now
      Date.now = () => now() - 7_200_000
      try {
        await assert.rejects(prepare(other), {
          message: /^The certificate authority is not valid before .*, and the clock .* set the clock/,
        })
      } finally {
        Date.now = now
      }
      await prepare(other)
      assert.deepEqual(await contents(other), first)
    })

    it('never replace those of another installation', async () => {
      const [directory, other] = [await temporaryDirectory('keys'), await temporaryDirectory('keys')]
      await prepare(directory)
      const first = etcdPrefix
      etcdPrefix = `/keys${++prefixes}`
      await assert.rejects(
        prepare(directory),
        /is the data directory of another installation than the one in etcd at/,
      )
      await prepare(other)
      etcdPrefix = first
      await rm(join(other, 'installation'))
      const before = await readFile(join(other, 'sa.key'), 'utf8')
      await assert.rejects(prepare(other), /sa\.key differs from the key of the installation in etcd/)
      assert.equal(await readFile(join(other, 'sa.key'), 'utf8'), before)
    })

    it('stay out of etcd with --etcd-shared-keys=false, and have to be there', async () => {
      const directory = await temporaryDirectory('keys')
      const alone = { etcdSharedKeys: false }
      await assert.rejects(prepare(directory, alone), /ca\.crt is missing: copy the keys of the installation/)
      for (const name of ['ca.crt', 'sa.key']) await writeFile(join(directory, name), 'own')
      assert.equal(await prepare(directory, alone), undefined)
      const key = Buffer.from(`${etcdPrefix}/files/`).toString('base64')
      const end = Buffer.from(`${etcdPrefix}/files0`).toString('base64')
      assert.equal((await etcd.post('kv/range', { key, range_end: end })).count, undefined)
    })
  })
