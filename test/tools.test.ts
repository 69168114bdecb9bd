import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './support/oriel.ts'
import { root } from './support/source.ts'

describe('what npm test looks for first', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-tools-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  const look = () =>
    run(process.execPath, [join(root, 'scripts/tools.mjs')], { env: { PATH: `/nowhere:${folder}` } })

  const program = (name: string) => writeFile(join(folder, name), '#!/bin/sh\n', { mode: 0o755 })

  it('are kubectl and curl: it says in a line what is not there, and where it is from', async () => {
    await writeFile(join(folder, 'kubectl'), 'no program')
    const { code, stderr } = await look()
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^npm test needs kubectl and curl on the PATH\. scripts\/install-kubectl\.sh puts .*\.\n$/,
    )
    await program('curl')
    assert.match((await look()).stderr, /^npm test needs kubectl on the PATH\. scripts/)
  })

  it('are not mentioned when they are there', async () => {
    await program('kubectl')
    assert.deepEqual(await look(), { code: 1, stdout: '', stderr: 'npm test needs curl on the PATH.\n' })
    await program('curl')
    assert.deepEqual(await look(), { code: 0, stdout: '', stderr: '' })
  })
})
