import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { discard, kubectlFor, run, startOriel } from '../support/oriel.ts'
import { root } from '../support/source.ts'

interface Bundling {
  bundle(folder: string): Promise<void>
}

describe('the bundle that bin names', function () {
  this.slow(20_000)
  let folder: string
  let program: string

  before(async () => {
    await mkdir(join(root, 'dist'), { recursive: true })
    folder = await mkdtemp(join(root, 'dist/bundle-'))
    const { bundle }: Bundling = await import(join(root, 'scripts/bundle.mjs'))
    await bundle(folder)
    program = join(folder, 'oriel.cjs')
  })
  after(() => rm(folder, { recursive: true }))

  it('knows its version', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    assert.equal((await run(process.execPath, [program, '--version'])).stdout, `${version}\n`)
  })

  it('serves kubectl', async () => {
    const oriel = await startOriel({ program })
    try {
      const kubectl = kubectlFor(oriel, 'root')
      await kubectl(['create', 'configmap', 'greeting', '--from-literal=text=hello'])
      assert.equal(await kubectl(['get', 'cm', 'greeting', '-o', 'jsonpath={.data.text}']), 'hello')
      assert.equal(await oriel.stop(), 0)
    } finally {
      await discard(oriel)
    }
  })

  it('serves views of one’s own', async () => {
    const oriel = await startOriel({
      program,
      args: ['--view', join(root, 'dist/examples/views/catalog.js')],
    })
    try {
      const at = '/services/catalog/clusters/*/apis/apis.kcp.io/v1alpha2/apiexports'
      const { items } = (await JSON.parse(await kubectlFor(oriel, 'base')(['get', '--raw', at]))) as {
        items: unknown[]
      }
      assert.deepEqual(items, [])
    } finally {
      await discard(oriel)
    }
  })

  it('names sources where it fails', async () => {
    const directory = join(folder, 'data')
    await mkdir(join(directory, 'store'), { recursive: true })
    await writeFile(join(directory, 'store/oriel.mdb'), 'nonsense')
    const args = [program, 'start', '--data-directory', directory, '--port', '0']
    const { code, stderr } = await run(process.execPath, args)
    assert.equal(code, 1)
    assert.match(stderr, /is not a data file\n +at foreign \(.*\/shard\/store\/lmdb\.ts:\d+:\d+\)/)
  })
})
