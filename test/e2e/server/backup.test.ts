import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { cp, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, clientOf } from '../../support/client.ts'
import { needsStoreFile } from '../../support/notrun.ts'
import { compiled, discard, type Oriel, type Outcome, run, startOriel } from '../../support/oriel.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { configAt } from '../../support/watcher.ts'

const path = '/clusters/root/api/v1/namespaces/default/configmaps'
const oriel = (...args: readonly string[]): Promise<Outcome> => run(process.execPath, [compiled, ...args])

/** Creates ConfigMaps until `stop()`, which resolves with the names of those that were acknowledged. */
function createUntilStopped(client: Client) {
  const acknowledged: string[] = []
  let isStopped = false
  const creating = (async () => {
    for (let i = 0; !isStopped; i++) {
      const name = `written-${i}`
      const body = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name },
        data: { text: name.repeat(100) },
      }
      assert.equal((await client(path, { method: 'POST', body })).status, 201)
      acknowledged.push(name)
    }
  })()
  return {
    acknowledged,
    stop: async () => {
      isStopped = true
      await creating
    },
  }
}

const clientFor = (server: Oriel): Promise<Client> => clientOf(configAt(server, server.url))

describe('a backup', function () {
  this.timeout(120_000)
  let directory: string
  let server: Oriel
  let client: Client
  let file: string
  /** Acknowledged before the backup began. */
  let earlier: readonly string[]
  let version: string
  const stopping: (() => unknown)[] = []

  before(async function () {
    needsStoreFile(this)
    directory = await temporaryDirectory('backup')
    file = join(directory, 'backup.tar.gz')
    server = await startOriel()
    client = await clientFor(server)
    stopping.push(
      () => client.close(),
      () => discard(server),
    )
    const writing = createUntilStopped(client)
    while (writing.acknowledged.length < 20) await client(`${path}?limit=1`)
    earlier = [...writing.acknowledged]
    const made = await oriel('backup', '--data-directory', server.directory, '--output', file)
    assert.deepEqual([made.code, made.stdout], [0, ''], made.stderr)
    assert.match(made.stderr, /^Backed up resourceVersion \d+, \d+ files, .* to .*backup\.tar\.gz\.\n$/)
    await writing.stop()
    version = (await client(`${path}?limit=1`)).json().metadata.resourceVersion ?? ''
  })
  after(async () => {
    for (const each of stopping) await each()
  })

  it('of a server under load has every acknowledged write, and is for its owner only', async () => {
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const restored = join(directory, 'restored')
    const { code, stderr } = await oriel('restore', '--data-directory', restored, '--input', file)
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^Restored \d+ values of \d{4}-\S+Z to .*restored\.\n$/)
    assert.ok(!existsSync(join(restored, 'oriel-backup.json')))
    const second = await startOriel({ directory: restored })
    try {
      const there = await clientFor(second)
      const { items } = (await there(path)).json<{ items: { metadata: { name: string }; data: object }[] }>()
      const names = new Set(items.map(({ metadata }) => metadata.name))
      assert.deepEqual(
        earlier.filter(name => !names.has(name)),
        [],
      )
      for (const { metadata, data } of items)
        if (metadata.name.startsWith('written-')) assert.deepEqual(data, { text: metadata.name.repeat(100) })
      // The first server went on: its clients have to list again.
      const watch = await there(`${path}?watch=1&resourceVersion=${version}`)
      assert.match(watch.text, /"code":410/)
      there.close()
    } finally {
      await discard(second)
    }
  })

  it('leaves the server and its clients alone', async () => {
    const watch = await client.watch(`${path}?watch=1&resourceVersion=${version}`)
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'after-the-backup' } }
    assert.equal((await client(path, { method: 'POST', body })).status, 201)
    assert.equal((await watch.next())?.object.metadata.name, 'after-the-backup')
    watch.leave()
  })

  it('goes through standard output and standard input', async () => {
    const target = join(directory, 'piped')
    const command = [
      `"${process.execPath}" "${compiled}" backup --data-directory "${server.directory}" --output -`,
      `"${process.execPath}" "${compiled}" restore --data-directory "${target}" --input -`,
    ].join(' | ')
    const { code, stderr } = await run('sh', ['-c', command])
    assert.equal(code, 0, stderr)
    assert.deepEqual((await oriel('store', 'check', '--data-directory', target)).code, 0)
  })

  it('of a stopped server is like any other', async () => {
    const copy = join(directory, 'stopped')
    const there = await oriel('restore', '--data-directory', copy, '--input', file)
    assert.equal(there.code, 0, there.stderr)
    const again = join(directory, 'again.tar')
    const made = await oriel('backup', '--data-directory', copy, '--output', again)
    assert.equal(made.code, 0, made.stderr)
    assert.ok(readFileSync(again).includes('sa.key'))
  })

  describe('is refused in one sentence, with nothing changed,', () => {
    const refused = async (message: RegExp, ...args: readonly string[]) => {
      const entries = await readdir(directory)
      const { code, stderr, stdout } = await oriel(...args)
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, message)
      assert.equal(stderr.trimEnd().split('\n').length, 1)
      assert.deepEqual(await readdir(directory), entries)
    }
    const restore = (input: string, message: RegExp) =>
      refused(message, 'restore', '--data-directory', join(directory, 'new'), '--input', input)

    it('when it was cut off', async () => {
      const cut = join(directory, 'cut.tar.gz')
      await cp(file, cut)
      truncateSync(cut, Math.floor(statSync(file).size / 2))
      await restore(cut, /^oriel: The backup .*cut\.tar\.gz cannot be used: it is cut off or damaged.*\.\n$/)
    })
    it('when it is something else', async () => {
      const other = join(directory, 'other.tar')
      for (const text of ['not a backup', 'not a backup\n'.repeat(1_000)]) {
        writeFileSync(other, text)
        await restore(
          other,
          /^oriel: The backup .*other\.tar cannot be used: it is no file of oriel backup\.\n$/,
        )
      }
      await restore(directory, /^oriel: The backup .* cannot be used: it is a directory\.\n$/)
    })
    it('when it does not exist', () =>
      restore(
        join(directory, 'none.tar'),
        /^oriel: The backup .*none\.tar cannot be used: there is no such file\.\n$/,
      ))
    it('when the data directory has files', () =>
      refused(
        /^oriel: .* has files in it: move it away, or choose another directory with --data-directory\.\n$/,
        'restore',
        ...['--data-directory', server.directory, '--input', file],
      ))
    it('when there is no store', async () => {
      await mkdir(join(directory, 'empty'))
      await refused(
        /^oriel: there is no store in .*\.\n$/,
        'backup',
        ...['--data-directory', join(directory, 'empty'), '--output', join(directory, 'x.tar')],
      )
    })
    it('when it would be in what it backs up', () =>
      refused(
        /^oriel: .* is in the data directory, which is backed up: choose another --output\.\n$/,
        'backup',
        ...['--data-directory', server.directory, '--output', join(server.directory, 'x.tar')],
      ))
    it('when the output is a directory', () =>
      refused(
        /^oriel: .* is a directory: give --output the name of a file\.\n$/,
        'backup',
        ...['--data-directory', server.directory, '--output', directory],
      ))
    it('when the directory of the output does not exist', () =>
      refused(
        /^oriel: .*none cannot be written \(ENOENT\): choose another --output\.\n$/,
        'backup',
        ...['--data-directory', server.directory, '--output', join(directory, 'none', 'x.tar')],
      ))
  })
})

describe('oriel store check', function () {
  this.timeout(60_000)
  before(function () {
    needsStoreFile(this)
  })

  it('reads a store beside its server', async () => {
    const server = await startOriel()
    const { code, stdout } = await oriel('store', 'check', '--data-directory', server.directory)
    await discard(server)
    assert.equal(code, 0)
    assert.match(
      stdout,
      /^Store: +.*\nResourceVersion: +\d+ \(watches resume after \d+\)\nValues: +\d+, .*\n/,
    )
    assert.match(stdout, /\nDamaged: +none\n$/)
  })

  it('names what is damaged', async () => {
    const server = await startOriel()
    const client = await clientFor(server)
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'hurt' },
      data: { text: 'before it' },
    }
    assert.equal((await client(path, { method: 'POST', body })).status, 201)
    client.close()
    await server.stop()
    const file = join(server.directory, 'store/oriel.mdb')
    const bytes = readFileSync(file)
    for (let at = bytes.indexOf('before it'); at >= 0; at = bytes.indexOf('before it', at + 1))
      bytes.write('damage it', at)
    writeFileSync(file, bytes)
    const { code, stdout } = await oriel('store', 'check', '--data-directory', server.directory)
    await discard(server)
    assert.equal(code, 1)
    assert.match(stdout, /\nDamaged: +1\n +\/registry\/.*configmaps.*\/hurt\n$/)
  })
})
