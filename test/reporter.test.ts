import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readText, run } from './support/oriel.ts'
import { root } from './support/source.ts'

interface Omitted {
  readonly what: string
  readonly needs: string
  readonly command: string
}

const omitted = createRequire(import.meta.url)(join(root, 'scripts/omitted.cjs')) as readonly Omitted[]

const reporter = join(root, 'scripts/reporter.cjs')
const mocha = join(root, 'node_modules/mocha/bin/mocha.js')

describe('the end of npm test', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-reporter-'))
    const suite = (name: string, tests: string) =>
      writeFile(join(folder, `${name}.test.cjs`), `describe('${name}', () => {\n${tests}\n})\n`)
    await suite('one', "it('a (not run: needs x, X=<file> npm test)')\nit('b', () => {})")
    await suite('two', "it('c (not run: needs x, X=<file> npm test)')\nit('d')")
  })
  after(() => rm(folder, { recursive: true }))

  for (const parallel of [[], ['--parallel']])
    it(`lists what did not run, with its reason${parallel.length > 0 ? ', from several processes' : ''}`, async () => {
      const files = ['one', 'two'].map(name => join(folder, `${name}.test.cjs`))
      const args = [mocha, '--no-config', ...parallel, '--reporter', reporter, ...files]
      const { code, stdout } = await run(process.execPath, args)
      assert.equal(code, 0, stdout)
      const [, lines = ''] = stdout.split('  Not run:\n')
      assert.deepEqual(lines.split('\n').slice(0, 5), [
        '    2 tests: needs x, X=<file> npm test',
        '      one a',
        '      two c',
        '    1 test: no reason is given',
        '      two d',
      ])
      for (const { what, needs, command } of omitted)
        assert.ok(lines.includes(`    ${what}: needs ${needs}\n      ${command}\n`), what)
    })

  it('names a failure when it happens, so that a run that is ended early has told it', async () => {
    const file = join(folder, 'endless.test.cjs')
    await writeFile(file, "it('fails', () => { throw new Error('no') })\nit('ends', () => process.exit(3))")
    const { stderr } = await run(process.execPath, [mocha, '--no-config', '--reporter', reporter, file])
    assert.match(stderr, /^ {2}failed: fails: no$/m)
  })

  it('names existing commands', async () => {
    const { scripts } = JSON.parse(await readText(join(root, 'package.json'))) as {
      readonly scripts: Readonly<Record<string, string>>
    }
    for (const { command } of omitted) {
      const [, script = ''] = /npm run (\S+)$/.exec(command) ?? []
      assert.ok(script in scripts, command)
    }
  })
})
