import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, clientOf } from '../../support/client.ts'
import { discard, type Oriel } from '../../support/oriel.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { userAt } from '../../support/watcher.ts'

const view = '/services/migratingworkspaces/clusters'
const dumps = '/apis/migration.kcp.io/v1alpha1/logicalclusterdumps'
const tokens = 'shard-token,shard,1,"system:kcp:external-logical-cluster-admin"\nmallory-token,mallory,2\n'
const dump = { apiVersion: 'migration.kcp.io/v1alpha1', kind: 'LogicalClusterDump', spec: {} }
const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: dump }

/** The tests of the view, for the embedded and the separate process. */
export const migrationFlows = (start: (args: readonly string[]) => Promise<Oriel>) =>
  function (this: Mocha.Suite): void {
    this.timeout(180_000)
    let oriel: Oriel
    let shard: Client
    let mallory: Client

    before(async () => {
      const file = join(await temporaryDirectory('migrating'), 'tokens.csv')
      await writeFile(file, tokens)
      const gates = process.env.KCP_BIN ? ['--feature-gates=LogicalClusterMigration=true'] : []
      oriel = await start(['--token-auth-file', file, ...gates])
      shard = await clientOf(userAt(oriel, oriel.viewsUrl, 'shard-token'))
      mallory = await clientOf(userAt(oriel, oriel.viewsUrl, 'mallory-token'))
    })
    after(() => discard(oriel))

    it('is for other shards only', async () => {
      const refused = await mallory(`${view}/root${dumps}`, post)
      assert.equal(refused.status, 403)
      assert.match(
        refused.json().message ?? '',
        /User "mallory" cannot create resource "logicalclusterdumps" in API group "migration.kcp.io" at the cluster scope: user is not in group system:kcp:external-logical-cluster-admin$/,
      )
    })

    it('hides logical clusters that do not migrate', async () => {
      assert.equal((await shard(`${view}/root${dumps}`, post)).status, 404)
      // A shard does not reveal its logical clusters to other users.
      assert.ok([403, 404].includes((await shard(`${view}/nobody${dumps}`, post)).status))
    })

    it('serves no discovery, no other resource and no other cluster scope', async () => {
      for (const path of ['/api', '/apis', '/version', '/api/v1/secrets', `${dumps}/cluster`, '/openapi/v3'])
        assert.equal((await shard(`${view}/root${path}`)).status, 404, path)
      for (const scope of ['*', 'root:team'])
        assert.equal((await shard(`${view}/${scope}${dumps}`, post)).status, 403, scope)
    })
  }
