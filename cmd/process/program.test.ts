import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { beside, root } from '../../test/support/source.ts'
import { codePath, loadProgram, oldestNode, versionError } from './program.ts'

describe('a bundled program', () => {
  let folder: string
  let path: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-program-'))
    path = join(folder, 'main.cjs')
    await write(path, '[__filename, require("node:path").sep, module.exports === exports]')
  })
  after(() => rm(folder, { recursive: true }))

  /** A program that publishes the value of an expression. */
  const write = (file: string, value: string): Promise<void> =>
    writeFile(
      file,
      `(function (exports, require, module, __filename, __dirname, importModule) { globalThis.programSaw = ${value} })`,
    )

  const run = (): unknown => {
    loadProgram(path).run()
    return Reflect.get(globalThis, 'programSaw')
  }

  it('runs as CommonJS', () => assert.deepEqual(run()?.toString(), `${path},/,true`))

  it('runs with a code cache, and ignores an invalid one', async () => {
    const program = loadProgram(path)
    program.run()
    for (const code of [program.code(), Buffer.from('nonsense'), Buffer.alloc(0)]) {
      await writeFile(codePath(path), code)
      assert.deepEqual(run()?.toString(), `${path},/,true`)
    }
  })

  it('imports modules, also with a code cache', async () => {
    const importing = join(folder, 'importing.cjs')
    const module = 'data:text/javascript,export default "imported"'
    await write(importing, `importModule(${JSON.stringify(module)})`)
    const first = loadProgram(importing)
    first.run()
    await writeFile(codePath(importing), first.code())
    loadProgram(importing).run()
    const { default: imported } = await Reflect.get(globalThis, 'programSaw')
    assert.equal(imported, 'imported')
  })

  /** What a program prints to stderr that is bundled with its source map and ends with an error. */
  async function printed(...lines: readonly string[]): Promise<string> {
    const source = join(folder, 'fail.ts')
    const stackTraces = JSON.stringify(beside(import.meta, 'stacktraces').at(-1))
    const head = [`import { mapStackTraces } from ${stackTraces}`, 'mapStackTraces(__filename)']
    await writeFile(source, [...head, ...lines].join('\n'))
    const bundle = join(folder, 'fail.cjs')
    const format = { bundle: true, platform: 'node', format: 'cjs', sourcemap: 'external' } as const
    await build({ entryPoints: [source], outfile: bundle, ...format })
    return promisify(execFile)(process.execPath, [bundle]).then(
      () => assert.fail('it ended without an error'),
      (error: { stderr: string }) => error.stderr,
    )
  }

  it('has stack traces that name its sources', async () => {
    const stderr = await printed(
      'interface Nothing { gone: true }',
      "const fail = (_: Nothing): never => { throw new TypeError('no') }",
      'fail({ gone: true })',
    )
    assert.match(stderr, /^TypeError: no\n +at fail \(.*\/fail\.ts:4:45\)\n +at .*\/fail\.ts:5:1\)?\n/m)
  })

  it('does not read its source map for errors that end streams', async () => {
    const stderr = await printed(
      "import { PassThrough } from 'node:stream'",
      "import { rmSync } from 'node:fs'",
      "rmSync(__filename + '.map')",
      'const aborted = new AbortController()',
      'aborted.abort()',
      "for (const error of [aborted.signal.reason, Object.assign(new Error('cut'), { code: 'ECONNRESET' })])",
      "  new PassThrough().on('error', () => undefined).destroy(error)",
      "throw Object.assign(new Error('done'), { code: 'DONE' })",
    )
    assert.match(stderr, /^Error: done\n +at .*fail\.cjs:/m)
  })
})

describe('the minimum version of Node', () => {
  it('is that of package.json', () => {
    const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    assert.equal(engines.node, `>=${oldestNode}`)
  })

  it('rejects older versions only', () => {
    assert.equal(
      versionError('18.20.8'),
      'oriel: Node.js 20.19 or newer is required, and this is 18.20.8: install a newer version.',
    )
    assert.match(versionError('20.2.0') ?? '', /20\.2\.0/)
    for (const release of ['20.19.0', '22.1.0', '100.0.0']) assert.equal(versionError(release), undefined)
  })
})
