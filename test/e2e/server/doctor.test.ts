import assert from 'node:assert/strict'
import { compiled, discard, eventually, type Oriel, run } from '../../support/oriel.ts'
import { startServer } from '../../support/servers/kcp.ts'
import { startStandalone } from '../../support/servers/standalone.ts'

const examine = ({ kubeconfig }: Oriel) =>
  run(process.execPath, [compiled, 'doctor', '--kubeconfig', kubeconfig, '--context', 'shard-base'])

/** With `KCP_BIN=…` it examines kcp, alone and with Oriel's views in front. */
for (const [where, start] of [
  ['a shard with its views', () => startServer()],
  ['views in front of a shard', () => startStandalone()],
] as const)
  describe(`oriel doctor at ${where}`, function () {
    this.timeout(180_000)
    let oriel: Oriel
    before(async () => {
      oriel = await start()
    })
    after(() => discard(oriel))

    it('reports no problem', async () => {
      // Views are ready when they have listed their resources.
      const { code, stdout } = await eventually(
        () => examine(oriel),
        found => found.stdout.includes('all views are ready'),
      )
      assert.equal(code, 0, stdout)
      assert.ok(stdout.includes(`views of root: ${oriel.viewsUrl} serves views`), stdout)
      assert.match(stdout, /ok \] header trust: /)
    })

    it('finds nothing wrong with the kubeconfig of the server as it is', async () => {
      const { code, stdout } = await run(process.execPath, [
        ...[compiled, 'doctor', '--kubeconfig', oriel.kubeconfig],
      ])
      assert.equal(code, 0, stdout)
    })

    it('ends without a stack trace when nothing reads its output', async () => {
      const command = `"${process.execPath}" "${compiled}" doctor --kubeconfig "${oriel.kubeconfig}" | true`
      assert.deepEqual(await run('sh', ['-c', command]), { code: 0, stdout: '', stderr: '' })
    })

    it('says that an ordinary administrator is not enough', async () => {
      const { code, stdout } = await run(process.execPath, [
        ...[compiled, 'doctor', '--kubeconfig', oriel.kubeconfig, '--context', 'root'],
      ])
      assert.equal(code, 1)
      assert.match(stdout, /FAIL\] wildcard: .*403/)
    })
  })
