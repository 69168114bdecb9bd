import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readText, run } from './support/oriel.ts'
import { root } from './support/source.ts'

describe('the tools that npm test requires', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-tools-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  const look = () =>
    run(process.execPath, [join(root, 'scripts/tools.mjs')], { env: { PATH: `/nowhere:${folder}` } })

  const program = (name: string) => writeFile(join(folder, name), '#!/bin/sh\n', { mode: 0o755 })

  it('are kubectl and curl: it reports in one line which is missing, and where to get it', async () => {
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

  it('are not mentioned when they are installed', async () => {
    await program('kubectl')
    assert.deepEqual(await look(), { code: 1, stdout: '', stderr: 'npm test needs curl on the PATH.\n' })
    await program('curl')
    assert.deepEqual(await look(), { code: 0, stdout: '', stderr: '' })
  })
})

describe('npm run test:kcp', () => {
  it('finds the tests that it names', async () => {
    const { scripts } = JSON.parse(await readText(join(root, 'package.json'))) as {
      readonly scripts: Readonly<Record<string, string>>
    }
    const [, args = ''] = /\bmocha (.*)$/.exec(scripts['test:kcp'] ?? '') ?? []
    const command = `node_modules/.bin/mocha --dry-run ${args}`
    const { code, stdout, stderr } = await run('sh', ['-c', command])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /the lifecycle views in front of a shard/)
    assert.doesNotMatch(stderr, /Cannot find any files/)
  })
})

interface LockFile {
  readonly packages: Readonly<
    Record<
      string,
      { readonly resolved?: string; readonly optionalDependencies?: Readonly<Record<string, string>> }
    >
  >
}

describe('package-lock.json', () => {
  let packages: LockFile['packages']
  before(async () => {
    packages = (JSON.parse(await readText(join(root, 'package-lock.json'))) as LockFile).packages
  })

  it('has the packages of all platforms, without which npm ci fails', () => {
    const optional = Object.values(packages).flatMap(each => Object.keys(each.optionalDependencies ?? {}))
    assert.ok(optional.length > 50)
    assert.deepEqual(
      optional.filter(name => !(`node_modules/${name}` in packages)),
      [],
    )
  })

  it('names no registry', () =>
    assert.deepEqual(
      Object.keys(packages).filter(path => packages[path]?.resolved !== undefined),
      [],
    ))
})
