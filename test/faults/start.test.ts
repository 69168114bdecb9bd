import assert from 'node:assert/strict'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { post } from '../conformance/fixture.ts'
import { clientOf } from '../support/client.ts'
import { eventually, type OrielOptions, startOriel } from '../support/oriel.ts'
import { refusalOf } from '../support/refusal.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { configAt } from '../support/watcher.ts'

describe('a start that fails', function () {
  this.timeout(120_000)
  let directory: string
  beforeEach(async () => {
    directory = await temporaryDirectory('start')
  })

  const refusal = (options: OrielOptions = {}): Promise<string> => refusalOf({ directory, ...options })

  /** LMDB writes text before it, without a line break. */
  const lastLine = (output: string): string => output.trimEnd().split('\n').at(-1) ?? ''

  const emptyFiles = async (): Promise<readonly string[]> => {
    const entries = await readdir(directory, { recursive: true })
    const sizes = await Promise.all(
      entries.map(async name => [name, (await stat(join(directory, name))).size]),
    )
    return sizes.flatMap(([name, size]) => (size === 0 ? [String(name)] : []))
  }

  it('on a full disk reports it in one sentence, and leaves no empty file', async () => {
    assert.match(
      await refusal({ largestFile: 0 }),
      /^oriel: \S+ cannot be written \(EFBIG\): make room on the disk, or choose another --data-directory\.\n$/,
    )
    assert.deepEqual(await emptyFiles(), [])
  })

  it('with too few open files reports it in one sentence', async () => {
    for (const openFiles of [24, 40, 64])
      assert.match(
        await refusal({ openFiles }),
        /^oriel: The limit of open files of this process is (reached|\d+): raise it.*, such as with "ulimit -n 1024"\.\n$/,
        `${openFiles}`,
      )
  })

  it('without space for the store reports it in one sentence', async () => {
    for (const largestFile of [100, 400])
      assert.match(
        lastLine(await refusal({ largestFile })),
        /^oriel: the store in \S+ cannot be written: .*$/,
      )
  })

  it('on a file that is not a store reports it in one sentence', async () => {
    await mkdir(join(directory, 'store'))
    await writeFile(join(directory, 'store/oriel.mdb'), 'hello world\n'.repeat(1_000))
    assert.match(await refusal(), /^oriel: the store in \S+ is damaged or has another format: [^\n]+\n$/)
  })
})

describe('a store that is removed under a running server', function () {
  this.timeout(120_000)

  it('ends the server with one line, and no write is acknowledged', async () => {
    const directory = await temporaryDirectory('removed')
    const oriel = await startOriel({ directory })
    const client = await clientOf(configAt(oriel, oriel.url))
    await rm(join(directory, 'store'), { recursive: true })
    const status = await client(
      '/clusters/root/api/v1/namespaces/default/configmaps',
      post({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'lost' } }),
    ).then(
      reply => reply.status,
      () => 0,
    )
    assert.notEqual(status, 201)
    client.close()
    await eventually(
      async () => oriel.output(),
      output =>
        /^oriel: the store in \S+ cannot be written: oriel\.mdb was removed or replaced .*$/m.test(output),
    )
    assert.equal(await oriel.stop(), 1)
  })
})
