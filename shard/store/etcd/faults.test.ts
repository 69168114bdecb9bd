import assert from 'node:assert/strict'
import { events, put } from '../../../test/contract/store/opened.ts'
import { notRun } from '../../../test/support/notrun.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from '../../../test/support/servers/etcd.ts'
import { Compacted, type Store } from '../store.ts'
import { openEtcdStore } from './etcd.ts'

const inBase64 = (text: string): string => Buffer.from(text).toString('base64')

if (etcdProgram() === undefined) notRun('faults of a store in etcd', noEtcd)
else
  describe('store in etcd', () => {
    let etcd: Etcd
    let prefix: string
    let prefixes = 0
    const opened: Store[] = []
    before(async () => {
      etcd = await startEtcd()
    })
    after(() => etcd.stop())
    beforeEach(() => {
      prefix = `/test${++prefixes}`
    })
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close()
    })

    async function open(patience?: number) {
      const options = { endpoints: [etcd.endpoint], prefix, compactEvery: 0 }
      const store = await openEtcdStore({ ...options, ...(patience !== undefined && { patience }) })
      opened.push(store)
      return store
    }

    const putRaw = (key: string, value: string) =>
      etcd.post('kv/put', { key: inBase64(prefix + key), value: inBase64(value) })

    async function record(): Promise<Record<string, unknown>> {
      const found = await etcd.post('kv/range', { key: inBase64(`${prefix}/installation`) })
      const [value] = found.kvs as readonly { readonly value: string }[]
      return JSON.parse(Buffer.from(value?.value ?? '', 'base64').toString())
    }

    it('is one installation with one history for all servers', async () => {
      const [first, second] = [await open(), await open()]
      assert.equal(first.installation, second.installation)
      const base = second.revision
      const seen = events({ store: second, base, close: () => Promise.resolve() }, '', 0, 2)
      const revision = await first.commit([put('a', '1', 0)])
      await assert.rejects(second.commit([put('a', '2', 0)]), { name: 'StoreConflict', key: 'a' })
      await second.commit([put('a', '2', revision)])
      assert.deepEqual(await seen, ['1 a ->1', '2 a 1>2'])
    })

    it('tells a server the latest revision of the others', async () => {
      const [first, second] = [await open(), await open()]
      const revision = await first.commit([put('a', '1')])
      assert.equal(await second.latest(), revision)
      assert.equal((await second.get('a'))?.value.toString(), '1')
    })

    it('is not disturbed by other keys in the same etcd', async () => {
      const store = await open()
      await etcd.post('kv/put', { key: inBase64('/other'), value: '' })
      assert.equal(await store.latest(), store.revision)
    })

    it('has every commit once and in order when etcd is killed in between', async () => {
      const store = await open()
      const base = store.revision
      const seen = events({ store, base, close: () => Promise.resolve() }, '', 0, 60)
      const written: Promise<number>[] = []
      for (let i = 0; i < 60; i++) {
        const writing = store.commit([put(`k${i}`, `${i}`, 0)])
        written.push(writing)
        if (i === 20) await etcd.restart()
        else await writing
      }
      const revisions = await Promise.all(written)
      const expected = revisions
        .map((revision, i) => ({ revision, i }))
        .sort((a, b) => a.revision - b.revision)
      assert.deepEqual(
        await seen,
        expected.map(({ revision, i }) => `${revision - base} k${i} ->${i}`),
      )
    })

    it('continues above all revisions that clients have seen when etcd was restored', async () => {
      const before = await open()
      await before.commit([put('a', '1')])
      const last = before.revision
      const found = await record()
      await putRaw('/installation', JSON.stringify({ ...found, cluster: '1' }))
      const after = await open()
      assert.equal(after.installation, before.installation)
      assert.ok(after.compacted > last + 1e9 - 1, `compacted up to ${after.compacted} after ${last}`)
      await assert.rejects(after.watch('', last, AbortSignal.timeout(5_000)).next(), Compacted)
      assert.equal((await after.get('a'))?.value.toString(), '1')
      assert.ok((await after.commit([put('a', '2')])) > after.compacted)
    })

    it('fails when etcd lost its data while the server was running', async () => {
      const store = await open()
      await store.commit([put('a', '1')])
      const watching = store.watch('', store.revision, AbortSignal.timeout(20_000)).next()
      await Promise.all([
        assert.rejects(watching, /^Error: etcd was restored or replaced while the server was running/),
        etcd.wipe(),
      ])
      assert.match((await store.failed).message, /Start the server again/)
    })

    it('refuses a prefix with keys of another program', async () => {
      await putRaw('/registry/pods', '')
      await assert.rejects(open(), {
        message: `the prefix ${prefix} of etcd has keys of another program, such as ${prefix}/registry/pods: choose another --etcd-prefix.`,
      })
    })

    it('refuses the format of a later version', async () => {
      await putRaw('/installation', '{"format":2,"uid":"x","offset":0}')
      await assert.rejects(open(), {
        message: `the key ${prefix}/installation in etcd has format 2 of a later version of Oriel: this version reads format 1. Start the later version.`,
      })
    })

    it('names a damaged value', async () => {
      const store = await open()
      await store.commit([put('/a', '1')])
      await putRaw('/objects/a', 'not with its checksum')
      await store.commit([put('/b', '1')])
      await assert.rejects(store.get('/a'), /the stored value of \/a at revision \d+ is damaged/)
    })

    it('expires a watch from before the compaction by another server', async () => {
      const [store, other] = [await open(), await open()]
      const before = store.revision
      await other.commit([put('a', '1')])
      await other.commit([put('a', '2')])
      await other.compact(other.revision)
      await assert.rejects(store.watch('', before, AbortSignal.timeout(5_000)).next(), {
        name: 'Compacted',
        oldest: other.revision,
      })
      assert.equal(store.compacted, other.revision)
    })

    it('answers 504 for writes and 503 for reads while etcd does not answer', async () => {
      const store = await open(300)
      await store.commit([put('a', '1')])
      await etcd.pause()
      try {
        await assert.rejects(store.commit([put('a', '2')]), { code: 504, reason: 'Timeout' })
        await assert.rejects(store.latest(), { code: 503, reason: 'ServiceUnavailable' })
      } finally {
        etcd.resume()
      }
    })

    it('names an etcd that is not reachable', async () => {
      const options = { endpoints: ['127.0.0.1:1'], prefix, compactEvery: 0, patience: 200 }
      await assert.rejects(
        openEtcdStore(options),
        /^Error: etcd at 127\.0\.0\.1:1 is not reachable: connect ECONNREFUSED 127\.0\.0\.1:1$/,
      )
    })
  })
