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

  it('is kubectl: one sentence says where it is from when it is not there', async () => {
    await writeFile(join(folder, 'kubectl'), 'no program')
    const { code, stderr } = await look()
    assert.equal(code, 1)
    assert.match(stderr, /^npm test needs kubectl on the PATH; scripts\/install-kubectl\.sh .*\.\n$/)
  })

  it('is silent when it is', async () => {
    await writeFile(join(folder, 'kubectl'), '#!/bin/sh\n', { mode: 0o755 })
    assert.deepEqual(await look(), { code: 0, stdout: '', stderr: '' })
  })
})
