import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { notRun } from '../../support/notrun.ts'
import { readText, run } from '../../support/oriel.ts'
import { root } from '../../support/source.ts'

describe('the unit of systemd', () => {
  const has = (program: string) =>
    (process.env.PATH ?? '').split(delimiter).some(each => existsSync(join(each, program)))
  if (!has('systemd-analyze'))
    return notRun('is verified', 'there is no systemd-analyze; apt-get install systemd')

  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-systemd-'))
  })
  after(() => rm(folder, { recursive: true }))

  it('is accepted by systemd, with the program of this machine, and has little exposure', async () => {
    const unit = join(folder, 'oriel.service')
    const text = await readText(join(root, 'deploy/oriel.service'))
    await writeFile(unit, text.replace('/usr/bin/node', process.execPath))
    assert.deepEqual(await run('systemd-analyze', ['verify', '--man=no', unit]), {
      code: 0,
      stdout: '',
      stderr: '',
    })
    const { code, stdout } = await run('systemd-analyze', [
      'security',
      '--offline=true',
      '--threshold=20',
      unit,
    ])
    assert.equal(code, 0, stdout)
  })
})
