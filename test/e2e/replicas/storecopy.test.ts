import assert from 'node:assert/strict'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openEtcdStore } from '../../../shard/store/etcd/etcd.ts'
import { put } from '../../contract/store/opened.ts'
import { clientOf } from '../../support/client.ts'
import { notRun } from '../../support/notrun.ts'
import { compiled, discard, eventually, type Oriel, run, startOriel } from '../../support/oriel.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from '../../support/servers/etcd.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { configAt } from '../../support/watcher.ts'

const configMaps = '/clusters/root/api/v1/namespaces/default/configmaps'
const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kept' }, data: { a: 'b' } }

const copy = (...args: readonly string[]) => run(process.execPath, [compiled, 'store', 'copy', ...args])

if (etcdProgram() === undefined) notRun('oriel store copy', noEtcd)
else
  describe('oriel store copy', function () {
    this.timeout(60_000)
    let etcd: Etcd
    let where: string
    before(async () => {
      etcd = await startEtcd()
      where = `etcd://${etcd.endpoint}`
    })
    after(() => etcd.stop())

    /** A server with the ConfigMap, which is stopped; returns its resourceVersion. */
    async function written(oriel: Oriel): Promise<string> {
      const client = await clientOf(configAt(oriel, oriel.url))
      await eventually(
        () => client('/clusters/root/api/v1/namespaces/default'),
        ({ status }) => status === 200,
      )
      const created = await client(configMaps, { method: 'POST', body })
      assert.equal(created.status, 201, created.text)
      client.close()
      await oriel.stop()
      return created.json().metadata.resourceVersion ?? ''
    }

    /** Reads the ConfigMap, and watches from a resourceVersion before the copy. */
    async function checked(oriel: Oriel, version: string): Promise<void> {
      const client = await clientOf(configAt(oriel, oriel.url))
      const found = (await client(`${configMaps}/kept`)).json<
        typeof body & { metadata: { resourceVersion: string } }
      >()
      assert.deepEqual(found.data, body.data)
      assert.ok(Number(found.metadata.resourceVersion) > Number(version))
      const stream = await client.watch(`${configMaps}?watch=1&resourceVersion=${version}`)
      const frame = await stream.next()
      assert.equal(frame?.object.code, 410, JSON.stringify(frame))
      stream.leave()
      client.close()
    }

    it('brings an installation from a directory to etcd, and back', async () => {
      const directory = await temporaryDirectory('copy')
      const args = ['--store', join(directory, 'store')]
      const first = await startOriel({ directory, args })
      const version = await written(first)
      const there = await copy('--from', join(directory, 'store'), '--to', where)
      assert.equal(there.code, 0, there.stderr)
      assert.match(there.stderr, /^Copied \d+ values, .* from .* to etcd:.*, and compared them\.\n$/)
      const second = await startOriel({ directory, args: ['--store', where] })
      await checked(second, version)
      await second.stop()
      await rm(join(directory, 'store'), { recursive: true })
      const back = await copy('--from', where, '--to', join(directory, 'store'))
      assert.equal(back.code, 0, back.stderr)
      const third = await startOriel({ directory, args })
      await checked(third, version)
      await discard(third)
    })

    it('refuses what is not empty, not there, or not a store, and changes nothing', async () => {
      const directory = await temporaryDirectory('copy')
      const refused = async (args: readonly string[], message: RegExp) => {
        const { code, stderr } = await copy(...args)
        assert.equal(code, 1)
        assert.match(stderr, message)
      }
      await refused(
        ['--from', join(directory, 'none'), '--to', where],
        /there is no store in .*: give --from/,
      )
      await refused(['--from', where, '--to', where], /One of --from and --to must be a directory/)
      await refused(['--from', 'memory:', '--to', where], /A store in memory cannot be copied/)
      await refused(['--from', where, '--to', process.cwd()], /has files in it: move it away/)
      const to = join(directory, 'store')
      assert.equal((await copy('--from', where, '--to', to)).code, 0)
      await refused(['--from', to, '--to', where], /etcd has an installation at \/oriel already/)
      assert.deepEqual(await readdir(directory), ['store'])
    })

    it('lets no server use a copy that was cut off', async () => {
      const options = { endpoints: [etcd.endpoint], prefix: '/cut', compactEvery: 0 }
      const store = await openEtcdStore({ ...options, copyOf: 5_000 })
      assert.ok((await store.commit([put('/a', '1')])) > 5_000)
      await store.close()
      const message =
        /the beginning of a copy at \/cut, which was cut off: remove it with "etcdctl del --prefix \/cut\/"/
      await assert.rejects(openEtcdStore(options), message)
      await assert.rejects(openEtcdStore({ ...options, copyOf: 5_000 }), message)
    })
  })
