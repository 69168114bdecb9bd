import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiled, discard, eventually, kubectlFor, run, startOriel } from '../../support/oriel.ts'
import { root } from '../../support/source.ts'

describe('the bundle that bin names', function () {
  this.slow(20_000)
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-bundle-'))
  })
  after(() => rm(folder, { recursive: true }))

  it('prints its version', async () => {
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

  it('serves views of plugins', async () => {
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

  it('names sources in stack traces', async () => {
    const view = join(folder, 'broken.mjs')
    const definition = "() => ({ apis() { throw new Error('a broken view') } })"
    await writeFile(
      view,
      `export default ({ defineVirtualWorkspace }) => defineVirtualWorkspace('broken', '/services/broken', ${definition})`,
    )
    const oriel = await startOriel({ args: ['--view', view] })
    try {
      const get = kubectlFor(oriel, 'base')(['get', '--raw', '/services/broken/clusters/root/api'])
      await assert.rejects(get, /internal error/i)
      const output = await eventually(
        async () => oriel.output(),
        printed => printed.includes('a broken view'),
      )
      assert.match(output, /at localAnswer \(.*\/framework\/server\/dispatch\.ts:\d+:\d+\)/)
    } finally {
      await discard(oriel)
    }
  })
})
