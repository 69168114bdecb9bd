import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readIfThere } from './files.ts'
import { StartError } from './starterror.ts'

describe('a file of a data directory', () => {
  let parent: string
  before(async () => {
    parent = await mkdtemp(join(tmpdir(), 'oriel-files-'))
  })
  after(() => rm(parent, { recursive: true }))

  it('is read if it is there', async () => {
    await writeFile(join(parent, 'sa.key'), 'key')
    assert.equal((await readIfThere(join(parent, 'sa.key')))?.toString(), 'key')
    assert.equal(await readIfThere(join(parent, 'none')), undefined)
  })

  it('is named with what to change when it cannot be read', async () => {
    const path = join(parent, 'ca.key')
    await mkdir(path)
    await assert.rejects(readIfThere(path), (error: unknown) => {
      assert.ok(error instanceof StartError)
      const what = 'make it a file that the user of this process may read.'
      assert.equal(error.message, `${path} cannot be read (EISDIR): ${what}`)
      return true
    })
  })
})
