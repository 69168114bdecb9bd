import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiled, discard, kubectlFor, run, startOriel } from '../../support/oriel.ts'
import { root } from '../../support/source.ts'

describe('the bundle that bin names', function () {
  this.slow(20_000)
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-bundle-'))
  })
  after(() => rm(folder, { recursive: true }))

  it('knows its version', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    assert.equal((await run(process.execPath, [compiled, '--version'])).stdout, `${version}\n`)
  })

  it('serves kubectl', async () => {
    const oriel = await startOriel()
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
    const args = [compiled, 'start', '--data-directory', directory, '--port', '0']
    const { code, stderr } = await run(process.execPath, args)
    assert.equal(code, 1)
    assert.match(stderr, /is not a data file\n +at foreign \(.*\/shard\/store\/lmdb\.ts:\d+:\d+\)/)
  })
})
