import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create } from 'tar'
import { openLmdbStore } from '../../shard/store/lmdb/lmdb.ts'
import { backup } from './backup.ts'
import { filesIn, manifestName } from './manifest.ts'
import { restore } from './restore.ts'

describe('backups of odd directories, and odd backups', () => {
  let directory: string
  let data: string
  let stderr: typeof process.stderr.write
  let said: string
  const at = (...names: readonly string[]): string => join(directory, ...names)

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oriel-hostile-'))
    data = at('data')
    await (await openLmdbStore(join(data, 'store'))).close()
    await writeFile(join(data, 'sa.key'), 'key')
    stderr = process.stderr.write
    said = ''
    process.stderr.write = text => {
      said += text
      return true
    }
  })
  afterEach(async () => {
    process.stderr.write = stderr
    await rm(directory, { recursive: true })
  })

  /** Restores a backup with the files of `data`, and this manifest. */
  async function restored(manifest: object): Promise<void> {
    const files = (await filesIn(data)).filter(({ path }) => path !== manifestName)
    const whole = { kind: 'OrielBackup', version: 1, time: 'then', files, ...manifest }
    await writeFile(join(data, manifestName), JSON.stringify(whole))
    await create({ cwd: data, file: at('backup.tar') }, [...files.map(({ path }) => path), manifestName])
    await restore({ dataDirectory: at('restored'), input: at('backup.tar') })
  }

  async function refused(why: RegExp, manifest: object): Promise<void> {
    await assert.rejects(restored(manifest), why)
    assert.deepEqual((await readdir(directory)).sort(), ['backup.tar', 'data'])
  }

  it('have keys that are links, and no sockets', async () => {
    await symlink(join(data, 'sa.key'), join(data, 'linked.key'))
    const socket = createServer()
    await new Promise<void>(resolve => socket.listen(join(data, 'socket'), resolve))
    try {
      await backup({ dataDirectory: data, output: at('backup.tar') })
    } finally {
      socket.close()
    }
    await restore({ dataDirectory: at('restored'), input: at('backup.tar') })
    assert.equal(await readFile(at('restored', 'linked.key'), 'utf8'), 'key')
    assert.ok(!(await readdir(at('restored'))).includes('socket'))
  })

  it('are not made of a link to nothing, in one sentence', async () => {
    await symlink('/does/not/exist', join(data, 'dangling'))
    const failed = backup({ dataDirectory: data, output: at('backup.tar') })
    await assert.rejects(failed, /^StartError: The data directory cannot be backed up: ENOENT.*dangling'\.$/)
    assert.deepEqual(await readdir(directory), ['data'])
  })

  it('are restored for the owner only', async () => {
    await chmod(join(data, 'sa.key'), 0o4777)
    await restored({})
    const modes = [at('restored'), at('restored', 'sa.key'), at('restored', 'store')].map(path => stat(path))
    assert.deepEqual(
      (await Promise.all(modes)).map(({ mode }) => mode & 0o7777),
      [0o700, 0o600, 0o700],
    )
  })

  it('are refused without a list of files', async () => {
    for (const files of [undefined, null, {}, [null], [{ path: 1 }]])
      await refused(/^StartError: .* its oriel-backup\.json has no list of files\.$/, { files })
  })

  it('are refused with the description of too many files', () =>
    refused(/ has no /, { time: 'x'.repeat(70e6) }))

  it('have no control characters in what is said about them', async () => {
    await mkdir(join(data, 'a\u001b[31m'))
    await writeFile(join(data, 'a\u001b[31m', 'b\nc'), '')
    await refused(/^StartError: .* its file a\\u001b\[31m\/b\\nc is not /, { files: [] })
    await restored({ time: '\u001b[31m\n' })
    assert.match(said, /^Restored \d+ values of \\u001b\[31m\\n to /)
  })
})
