import assert from 'node:assert/strict'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDataDirectory } from './directory.ts'

describe('data directory', () => {
  let parent: string
  before(async () => {
    parent = await mkdtemp(join(tmpdir(), 'oriel-directory-'))
  })
  after(() => rm(parent, { recursive: true }))

  it('is created, and locked by one process under every path to it', async () => {
    const path = join(parent, 'a', 'b')
    const taken = await openDataDirectory(path)
    await symlink(path, join(parent, 'link'))
    await assert.rejects(
      openDataDirectory(path),
      /Another oriel runs on .*: stop it, or choose another directory/,
    )
    await assert.rejects(openDataDirectory(join(parent, 'link')), /Another oriel runs on/)
    await taken.release()
    await (await openDataDirectory(path)).release()
  })

  it('is refused when it is a file', async () => {
    const path = join(parent, 'file')
    await writeFile(path, '')
    await assert.rejects(
      openDataDirectory(path),
      /file is not a directory: choose another one with --data-directory/,
    )
    await assert.rejects(openDataDirectory(join(path, 'below')), /is not a directory/)
  })
})
