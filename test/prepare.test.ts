import assert from 'node:assert/strict'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './support/oriel.ts'
import { root } from './support/source.ts'

describe('preparing a checkout', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-prepare-'))
    await cp(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true })
  })
  afterEach(() => rm(folder, { recursive: true }))

  const prepare = async (settings: object, env: Readonly<Record<string, string>> = {}) => {
    await writeFile(join(folder, 'package.json'), JSON.stringify(settings))
    await writeFile(join(folder, 'package-lock.json'), '{ "lockfileVersion": 3, "packages": {} }')
    return run(process.execPath, [join(folder, 'scripts/prepare.mjs')], { env })
  }

  it('reports in one sentence that Node is too old', async () => {
    const { code, stderr } = await prepare({ engines: { node: '>=99.1' } })
    assert.equal(code, 1)
    assert.equal(stderr, `oriel: Node.js 99.1 or newer is needed, and this is ${process.versions.node}.\n`)
  })

  it('reports in one sentence that there is no registry', async () => {
    const { code, stderr } = await prepare(
      { engines: { node: '>=20.19' }, dependencies: { koa: '*' } },
      { npm_config_registry: 'http://127.0.0.1:1', npm_config_cache: join(folder, 'cache') },
    )
    assert.equal(code, 1)
    assert.deepEqual(stderr.split('\n'), [
      'Installing packages (npm install)',
      'oriel: Packages cannot be installed: request to http://127.0.0.1:1/koa failed, reason: connect ECONNREFUSED 127.0.0.1:1',
      '',
    ])
  })
})
