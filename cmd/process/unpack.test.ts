import assert from 'node:assert/strict'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
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
  beforeEach(async () => {
    cache = join(await temporaryDirectory('unpack'), 'cache')
  })

  const read = (path: string): Uint8Array => Buffer.from(content[path as keyof typeof content])
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
    const before = lstatSync(folder)
    assert.equal(unpacked(), folder)
    assert.equal(lstatSync(folder).ino, before.ino)
    assert.deepEqual(readdirSync(join(cache, 'oriel')), ['abc123'])
  })

  it('are written once whatever the umask of the user', () => {
    const umask = process.umask(0)
    try {
      const { ino } = lstatSync(unpacked())
      assert.equal(lstatSync(unpacked()).ino, ino)
    } finally {
      process.umask(umask)
    }
  })

  it('are kept below a directory that others can write but in which they cannot replace files of this user', () => {
    chmodSync(dirname(cache), 0o1777)
    assert.equal(unpacked(), target())
  })

  const target = (): string => join(cache, 'oriel/abc123')
  const damages: Readonly<Record<string, () => void>> = {
    'a missing file': () => rmSync(join(target(), 'b/c.txt')),
    'a file that was cut off': () => writeFileSync(join(target(), 'b/c.txt'), 'tw'),
    'other content of the same length': () => writeFileSync(join(target(), 'b/c.txt'), 'TWELVE'),
    'a further file': () => writeFileSync(join(target(), 'b/package.json'), '{}'),
    'a further directory': () => mkdirSync(join(target(), 'node_modules')),
    'a directory instead of a file': () => {
      rmSync(join(target(), 'a.txt'))
      mkdirSync(join(target(), 'a.txt'))
    },
    'a link to a file with this content': () => {
      renameSync(join(target(), 'a.txt'), join(cache, 'a.txt'))
      symlinkSync(join(cache, 'a.txt'), join(target(), 'a.txt'))
    },
    'a link to a directory with this content': () => {
      renameSync(join(target(), 'b'), join(cache, 'b'))
      symlinkSync(join(cache, 'b'), join(target(), 'b'))
    },
    'a link to another place with this content': () => {
      renameSync(target(), join(cache, 'moved'))
      symlinkSync(join(cache, 'moved'), target())
    },
    'a file that other users can write': () => chmodSync(join(target(), 'a.txt'), 0o666),
    'a directory in it that other users can write': () => chmodSync(join(target(), 'b'), 0o777),
    'a directory that other users can write': () => chmodSync(target(), 0o777),
    'a file instead of the directory': () => {
      rmSync(target(), { recursive: true })
      writeFileSync(target(), '')
    },
  }
  for (const [damage, make] of Object.entries(damages))
    it(`are written again over ${damage}`, () => {
      unpacked()
      make()
      const folder = unpacked()
      assert.equal(folder, target())
      check(folder)
      assert.deepEqual(readdirSync(folder, { recursive: true }).sort(), ['a.txt', 'b', 'b/c.txt'])
      for (const path of ['', 'a.txt', 'b', 'b/c.txt']) {
        const stat = lstatSync(join(folder, path))
        assert.ok(!stat.isSymbolicLink() && (stat.mode & 0o022) === 0, path)
      }
      assert.deepEqual(readdirSync(join(cache, 'oriel')), ['abc123'])
    })

  it('are not executed from directories that other users can write', () => {
    for (const writable of ['..', '', 'oriel']) {
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
