import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openEtcdStore } from '../../shard/store/etcd/etcd.ts'
import { clientOf } from '../support/client.ts'
import { notRun } from '../support/notrun.ts'
import { discard, eventually, type OrielOptions, startOriel } from '../support/oriel.ts'
import { refusalOf } from '../support/refusal.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from '../support/servers/etcd.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { configAt } from '../support/watcher.ts'

/** Fails the test unless the start is refused with one line that begins with `oriel: `. */
async function refused(options: OrielOptions, sentence: RegExp): Promise<void> {
  const output = await refusalOf(options)
  assert.match(output, sentence)
  assert.match(output, /^oriel: [^\n]+\n$/)
}

describe('a start on a directory that has to be refused', function () {
  this.timeout(120_000)
  let whole: string
  let directory: string
  let file: string
  before(async () => {
    whole = await temporaryDirectory('whole')
    await (await startOriel({ directory: whole })).stop()
  })
  beforeEach(async () => {
    directory = await temporaryDirectory('refused')
    await cp(whole, directory, { recursive: true })
    file = join(directory, 'store/oriel.mdb')
  })

  /** Refuses the start of one process and of three, and leaves the file as it was. */
  async function refusesAll(sentence: RegExp): Promise<void> {
    const before = await readFile(file)
    await refused({ directory }, sentence)
    await refused({ directory, args: ['--replicas', '3'] }, sentence)
    assert.ok(before.equals(await readFile(file)), 'the store was changed')
  }

  it('names the format of a later version', async () => {
    const bytes = readFileSync(file)
    const name = 'oriel store 2'
    assert.ok(bytes.includes(name))
    for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + 1))
      bytes.write('oriel store 9', at)
    writeFileSync(file, bytes)
    await refusesAll(
      /the store in \S+ has the format 'oriel store 9' of a later version of Oriel: this version reads 'oriel store 2'\. Start the later version\./,
    )
  })

  it('names a file of another program', async () => {
    await writeFile(file, 'hello world\n'.repeat(1_000))
    await refusesAll(/the store in \S+ is damaged or has another format: oriel\.mdb is not a data file/)
  })

  it('names a file without its beginning', async () => {
    const bytes = await readFile(file)
    await writeFile(file, Buffer.concat([Buffer.alloc(8_192), bytes.subarray(8_192)]))
    await refusesAll(/the store in \S+ is damaged or has another format: oriel\.mdb is not a data file/)
  })

  it('names a file that was cut off', async () => {
    await truncate(file, 8_192)
    await refusesAll(/the store in \S+ is damaged or has another format: oriel\.mdb is cut off/)
  })

  it('names what uses the directory, and what uses the store', async () => {
    const first = await startOriel({ directory })
    const store = ['--store', join(directory, 'store')]
    try {
      await refused({ directory }, /Another oriel runs on \S+: stop it, or choose another directory/)
      for (const more of [[], ['--replicas', '3']])
        await refused(
          { args: [...store, ...more] },
          /the store in \S+ is in use by process \d+: only one process may open it/,
        )
    } finally {
      await first.stop()
    }
  })
})

const inBase64 = (text: string): string => Buffer.from(text).toString('base64')

if (etcdProgram() === undefined) notRun('starts on etcd that have to be refused', noEtcd)
else
  describe('a start on etcd that has to be refused', function () {
    this.timeout(120_000)
    let etcd: Etcd
    let prefix: string
    let prefixes = 0
    before(async () => {
      etcd = await startEtcd()
    })
    after(() => etcd.stop())
    beforeEach(() => {
      prefix = `/refused${++prefixes}`
    })

    const place = (...more: readonly string[]): readonly string[] => [
      ...['--store', `etcd://${etcd.endpoint}`, '--etcd-prefix', prefix],
      ...more,
    ]
    const putRaw = (key: string, value: string) =>
      etcd.post('kv/put', { key: inBase64(prefix + key), value: inBase64(value) })

    async function keys(): Promise<unknown> {
      const { kvs } = await etcd.post('kv/range', {
        key: inBase64(prefix),
        range_end: inBase64(`${prefix}~`),
      })
      return kvs
    }

    /** Refuses the start of one process and of three, and changes nothing below the prefix. */
    async function refusesAll(sentence: RegExp): Promise<void> {
      const before = await keys()
      for (const more of [[], ['--replicas', '3']]) {
        await refused({ args: place(...more) }, sentence)
        assert.deepEqual(await keys(), before)
      }
    }

    it('names a key of another program', async () => {
      await putRaw('/registry/pods', '{}')
      await refusesAll(
        /the prefix \/refused\d+ of etcd has keys of another program, such as \S+\/registry\/pods: choose another --etcd-prefix\./,
      )
    })

    it('names the format of a later version', async () => {
      await putRaw('/installation', '{"format":2,"uid":"x","offset":0}')
      await refusesAll(
        /format 2 of a later version of Oriel: this version reads format 1\. Start the later version\./,
      )
    })

    it('names a record that is damaged', async () => {
      await putRaw('/installation', '{"format":1,"uid"')
      await refusesAll(
        /the key \/refused\d+\/installation in etcd has a record that is damaged or of another program\. Choose another --etcd-prefix\./,
      )
    })

    it('names the beginning of a copy', async () => {
      const options = { endpoints: [etcd.endpoint], prefix, compactEvery: 0, copyOf: 5_000 }
      await (await openEtcdStore(options)).close()
      await refusesAll(
        /the beginning of a copy at \/refused\d+, which was cut off: remove it with "etcdctl del/,
      )
    })

    it('names the data directory of another installation, and changes neither', async () => {
      const other = await startOriel({ args: place() })
      await other.stop()
      prefix = `/refused${++prefixes}`
      const files = await readdir(other.directory)
      await refused(
        { directory: other.directory, args: place() },
        /\S+ is the data directory of another installation than the one in etcd at \/refused\d+: choose another --data-directory or --etcd-prefix\./,
      )
      assert.deepEqual(await readdir(other.directory), files)
    })

    it('names the key that differs from that of the installation', async () => {
      const first = await startOriel({ args: place() })
      await first.stop()
      const directory = await temporaryDirectory('keys')
      await mkdir(directory, { recursive: true })
      await cp(join(await ownKeys(), 'sa.key'), join(directory, 'sa.key'))
      await refused(
        { directory, args: place() },
        /sa\.key differs from the key of the installation in etcd at \/refused\d+: start with an empty --data-directory/,
      )
    })

    it('names the members that do not answer', async () => {
      await refused(
        { args: ['--store', 'etcd://127.0.0.1:1'] },
        /etcd at 127\.0\.0\.1:1 is not reachable: connect ECONNREFUSED 127\.0\.0\.1:1\.?\n/,
      )
    })

    it('names members without TLS, where TLS is required', async () => {
      const args = ['--store', `https://${etcd.endpoint}`]
      await refused(
        { args },
        /etcd at \S+ is not reachable: [^\n]*before secure TLS connection was established/,
      )
    })
  })

if (etcdProgram() === undefined) notRun('an etcd that is another one', noEtcd)
else
  describe('an etcd that is another one', function () {
    this.timeout(120_000)
    let etcd: Etcd
    let args: readonly string[]
    beforeEach(async () => {
      etcd = await startEtcd()
      args = ['--store', `etcd://${etcd.endpoint}`]
    })
    afterEach(() => etcd.stop())

    it('without data ends a running server, and its data directory is refused until an administrator decides', async () => {
      const server = await startOriel({ args })
      await etcd.wipe()
      await eventually(
        async () => server.output(),
        output =>
          /^oriel: etcd was restored or replaced while the server was running\. Start the server again: [^\n]+$/m.test(
            output,
          ),
      )
      assert.equal(await server.stop(), 1)
      await refused(
        { directory: server.directory, args },
        /is the data directory of another installation than the one in etcd at \/oriel: [^\n]+ remove the file "installation" there\./,
      )
    })

    it('with the data of a snapshot and another cluster id is accepted, and watches of before have to list again', async () => {
      const server = await startOriel({ args })
      const path = '/clusters/root/api/v1/namespaces/default/configmaps'
      const before = await clientOf(configAt(server, server.url))
      const version = (await before(path)).json().metadata.resourceVersion ?? ''
      before.close()
      await server.stop()
      await replaceClusterId(etcd)
      const again = await startOriel({ directory: server.directory, args })
      const client = await clientOf(configAt(again, again.url))
      const found = (await client(path)).json().metadata.resourceVersion ?? ''
      assert.ok(Number(found) > Number(version) + 1e9 - 1, `${found} after ${version}`)
      const watch = await client.watch(`${path}?watch=1&resourceVersion=${version}`)
      assert.equal((await watch.next())?.object.code, 410)
      watch.leave()
      client.close()
      await discard(again)
    })
  })

/** As if etcd had been restored with another cluster token: the record of the installation has the earlier cluster. */
async function replaceClusterId(etcd: Etcd): Promise<void> {
  const key = inBase64('/oriel/installation')
  const { kvs } = await etcd.post('kv/range', { key })
  const [found] = kvs as readonly { readonly value: string }[]
  const record = JSON.parse(Buffer.from(found?.value ?? '', 'base64').toString())
  await etcd.post('kv/put', { key, value: inBase64(JSON.stringify({ ...record, cluster: '1' })) })
}

/** The data directory of another installation. */
async function ownKeys(): Promise<string> {
  const directory = await temporaryDirectory('own')
  await (await startOriel({ directory })).stop()
  return directory
}
