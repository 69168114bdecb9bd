import assert from 'node:assert/strict'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { compiled, discard, run, startOriel } from '../../support/oriel.ts'
import { typeErrorsIn } from '../../support/packed.ts'
import { root } from '../../support/source.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const newView = (cwd: string, name: string) => run(process.execPath, [compiled, 'new', 'view', name], { cwd })

describe('oriel new view', function () {
  this.timeout(120_000)
  let folder: string
  before(async () => {
    folder = await temporaryDirectory('new')
    await mkdir(join(folder, 'node_modules'))
    // What `npm install` does.
    await symlink(root, join(folder, 'node_modules/oriel'))
    await symlink(join(root, 'node_modules/jiti'), join(folder, 'node_modules/jiti'))
  })

  it('writes a view that passes its test', async () => {
    const { code, stdout, stderr } = await newView(folder, 'team')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^Wrote team\/team\.ts\nWrote team\/team\.test\.ts\nWrote team\/package\.json\n/)
    const cwd = join(folder, 'team')
    const test = await run('npm', ['test', '--silent'], { cwd })
    assert.equal(test.code, 0, test.stdout + test.stderr)
    // Node 20 and later versions mark the lines of the summary differently.
    assert.match(test.stdout, /^[#ℹ] pass 8$/m)
    assert.match(test.stdout, /^[#ℹ] fail 0$/m)
  })

  it('writes a view whose types are right', async () => {
    const files = ['team/team.ts', 'team/team.test.ts']
    assert.equal(await typeErrorsIn(folder, { files }), '')
  })

  it('writes a view that is served', async () => {
    const args = ['--store', 'memory:', '--view', join(folder, 'team/team.ts')]
    await discard(await startOriel({ args }))
  })

  it('refuses other names, and directories that exist', async () => {
    const bad = await newView(folder, 'Team!')
    assert.deepEqual([bad.code, bad.stdout], [1, ''])
    assert.match(
      bad.stderr,
      /^oriel: "Team!" is not the name of a view: use lower-case letters, digits and "-", e\.g\. team\.\n$/,
    )
    const again = await newView(folder, 'team')
    assert.equal(again.code, 1)
    assert.match(
      again.stderr,
      /^oriel: The directory team cannot be created \(EEXIST\): choose another name\.\n$/,
    )
  })
})
