import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { type PackedFiles, unpack } from './unpack.ts'

const content = { 'a.txt': 'one', 'b/c.txt': 'twelve' }
const packed: PackedFiles = {
  digest: 'abc123',
  builtAt: '2026-01-02T03:04:05Z',
  files: Object.entries(content).map(([path, text]) => ({ path, size: text.length })),
}

describe('the files of an executable', () => {
  let cache: string
  let reads: number
  beforeEach(async () => {
    cache = join(await temporaryDirectory('unpack'), 'cache')
    reads = 0
  })

  const read = (path: string): Uint8Array => {
    reads++
    return Buffer.from(content[path as keyof typeof content])
  }
  const unpacked = (from: string | undefined = cache) => unpack({ packed, read, cache: from })
  const isTemporary = (folder: string): boolean => dirname(folder) === tmpdir()

  const check = (folder: string): void => {
    for (const [path, text] of Object.entries(content))
      assert.equal(readFileSync(join(folder, path), 'utf8'), text)
    assert.equal(statSync(folder).mode & 0o777, 0o700)
  }

  it('are written once, with the time of the build, where only the user can read them', () => {
    const folder = unpacked()
    check(folder)
    assert.equal(folder, join(cache, 'oriel/abc123'))
    assert.equal(statSync(join(folder, 'a.txt')).mtime.toISOString(), '2026-01-02T03:04:05.000Z')
    assert.equal(unpacked(), folder)
    assert.equal(reads, 2)
    assert.deepEqual(readdirSync(join(cache, 'oriel')), ['abc123'])
  })

  it('are written again when one is missing or cut off', () => {
    for (const damage of [(file: string) => rmSync(file), (file: string) => writeFileSync(file, 'tw')]) {
      damage(join(unpacked(), 'b/c.txt'))
      check(unpacked())
      assert.deepEqual(readdirSync(join(cache, 'oriel')), ['abc123'])
    }
  })

  it('are not executed from directories that other users can write', () => {
    for (const writable of ['', 'oriel', 'oriel/abc123']) {
      mkdirSync(join(cache, 'oriel/abc123'), { recursive: true, mode: 0o700 })
      for (const [path, text] of Object.entries(content)) {
        mkdirSync(dirname(join(cache, 'oriel/abc123', path)), { recursive: true })
        writeFileSync(join(cache, 'oriel/abc123', path), text.toUpperCase())
      }
      chmodSync(join(cache, writable), 0o777)
      const folder = unpacked()
      assert.ok(isTemporary(folder), folder)
      check(folder)
      rmSync(folder, { recursive: true })
      rmSync(cache, { recursive: true })
    }
  })

  it('are in a temporary directory for a user without a home or with one that cannot be written', () => {
    writeFileSync(cache, '')
    const folders = [unpack({ packed, read, cache: undefined }), unpacked()]
    for (const folder of folders) {
      assert.ok(isTemporary(folder), folder)
      check(folder)
      rmSync(folder, { recursive: true })
    }
    assert.notEqual(folders[0], folders[1])
  })
})
