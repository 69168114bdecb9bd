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

  describe('with failures', () => {
    const list = () => join(folder, 'failed')
    const again = () => run(process.execPath, [join(root, 'scripts/again.mjs'), list()])
    const rerun = async (...names: readonly string[]) => {
      const files = names.map(name => join(folder, `${name}.test.cjs`))
      const args = [mocha, '--no-config', '--parallel', '--reporter', reporter, ...files]
      await writeFile(list(), '')
      assert.notEqual((await run(process.execPath, args, { env: { FAILED_TESTS: list() } })).code, 0)
      return again()
    }
    const failing = (name: string, body: string) =>
      writeFile(join(folder, `${name}.test.cjs`), `describe('${name}', () => { ${body} })`)

    it('runs them once more, and keeps their names', async () => {
      const mark = JSON.stringify(join(folder, 'mark'))
      await failing(
        'flaky',
        `it('is so', () => require('node:fs').writeFileSync(${mark}, '', { flag: 'wx' }))`,
      )
      await writeFile(join(folder, 'mark'), '')
      assert.equal((await rerun('one', 'flaky')).code, 1)
      await rm(join(folder, 'mark'))
      const { code: second, stdout } = await again()
      assert.equal(second, 0, stdout)
      assert.equal(await readText(list()), `${join(folder, 'flaky.test.cjs')}\tflaky is so\n`)
    })

    it('runs those of hooks once more', async () => {
      await failing('hook', "before(() => { throw new Error('no') }); it('is not reached', () => {})")
      const { code, stdout } = await rerun('hook')
      assert.equal(code, 1)
      assert.match(stdout, /"before all" hook/)
    })

    it('runs nothing when there are many', async () => {
      const names = ['f1', 'f2', 'f3', 'f4']
      for (const name of names) await failing(name, "it('fails', () => { throw new Error('no') })")
      const { code, stdout, stderr } = await rerun(...names)
      assert.deepEqual([code, stdout, stderr], [1, '', 'Tests of 4 files failed; at most 3 run again.\n'])
    })

    it('runs nothing when none of them is known', async () => {
      await writeFile(list(), '')
      assert.match((await again()).stderr, /^The tests failed, but not in a file of tests\./)
    })
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
