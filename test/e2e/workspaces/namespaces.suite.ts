import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject } from '../../../framework/index.ts'
import { type Client, clientOf, type Stream } from '../../support/client.ts'
import { discard, eventually, type Oriel } from '../../support/oriel.ts'
import { apply, createWorkspaces, rolesFor, type Tenant } from '../../support/tenants.ts'
import { configAt, userAt } from '../../support/watcher.ts'

const namespace = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
})
const rbac = 'rbac.authorization.k8s.io'

/** Gives `bea` a role of Kubernetes in one namespace. */
const viewer = (of: string): KubeObject => ({
  apiVersion: `${rbac}/v1`,
  kind: 'RoleBinding',
  metadata: { name: 'bea', namespace: of },
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
  subjects: [{ apiGroup: rbac, kind: 'User', name: 'bea' }],
})

const viewOver = (scope: string): string => `/services/namespaces/clusters/${scope}/api/v1/namespaces`

/** Starts a server with views: of the same process, or in front of it. Flags are those of the shard. */
type Start = (flags: readonly string[]) => Promise<Oriel>

/** The view `namespaces` of a server. */
export const namespaceFlows = (start: Start) =>
  function (this: Mocha.Suite): void {
    this.timeout(240_000)
    let oriel: Oriel
    let folder: string
    let bea: Client
    let admin: Client
    let red: Tenant
    let green: Tenant

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'oriel-namespaces-'))
      await writeFile(join(folder, 'tokens.csv'), 'bea-token,bea,1\n')
      oriel = await start(['--token-auth-file', join(folder, 'tokens.csv')])
      ;[red, green] = (await createWorkspaces(oriel, ['red', 'green'])) as [Tenant, Tenant]
      for (const { kubectl } of [red, green]) await apply(kubectl, namespace('team'), namespace('other'))
      bea = await clientOf(userAt(oriel, oriel.viewsUrl, 'bea-token'))
      admin = await clientOf(configAt(oriel, oriel.viewsUrl, 'base'))
    })
    after(async () => {
      bea.close()
      admin.close()
      await discard(oriel)
      await rm(folder, { recursive: true })
    })

    const idOf = ({ metadata }: Partial<KubeObject>): string =>
      `${metadata?.annotations?.['kcp.io/cluster']}/${metadata?.name}`
    const listed = async (client: Client, scope = '*'): Promise<readonly string[]> => {
      const { status, text, json } = await client(viewOver(scope))
      assert.equal(status, 200, text)
      return (json().items ?? []).map(idOf).toSorted()
    }
    const until = async (watch: Stream, line: string): Promise<readonly string[]> => {
      const lines: string[] = []
      while (lines.at(-1) !== line) {
        const event = await watch.next()
        assert.ok(event, `the watch ended after ${lines}`)
        lines.push(`${event.type} ${idOf(event.object)}`)
      }
      return lines
    }

    it('are none without access, and all for administrators', async () => {
      assert.deepEqual(await listed(bea), [])
      const all = await listed(admin)
      for (const { cluster } of [red, green]) assert.ok(all.includes(`${cluster}/team`), String(all))
    })

    it('are ADDED and DELETED as access changes, in one namespace and in the workspace', async () => {
      const watch = await bea.watch(`${viewOver('*')}?watch=true`)
      await apply(red.kubectl, ...rolesFor('bea'), viewer('team'))
      const seen = [...(await until(watch, `ADDED ${red.cluster}/team`))]
      const rule = { apiGroups: [''], resources: ['namespaces'], verbs: ['get'], resourceNames: ['other'] }
      await apply(green.kubectl, ...rolesFor('bea', rule))
      seen.push(...(await until(watch, `ADDED ${green.cluster}/other`)))
      await eventually(
        () => listed(bea),
        found => String(found) === String([`${red.cluster}/team`, `${green.cluster}/other`].toSorted()),
      )
      await red.kubectl(['delete', 'rolebinding', 'bea', '-n', 'team'])
      seen.push(...(await until(watch, `DELETED ${red.cluster}/team`)))
      await green.kubectl(['delete', 'clusterrolebinding', 'bea-in-tests'])
      seen.push(...(await until(watch, `DELETED ${green.cluster}/other`)))
      assert.equal(seen.length, 4, String(seen))
      watch.leave()
    })

    it('are those of one workspace, by its name, for users with access to it', async () => {
      await apply(red.kubectl, viewer('other'))
      await eventually(
        () => listed(bea, red.cluster),
        found => String(found) === `${red.cluster}/other`,
      )
      const [closed, missing] = await Promise.all([
        bea(viewOver(green.cluster)),
        bea(viewOver('1234567890abcdef')),
      ])
      assert.equal(closed.status, 403, closed.text)
      assert.deepEqual([missing.status, missing.text], [closed.status, closed.text])
    })

    it('have tokens that name nothing', async () => {
      const { metadata } = (await admin(`${viewOver('*')}?limit=1`)).json()
      const token = Buffer.from(metadata.continue ?? '', 'base64url').toString('latin1')
      assert.ok(token.length > 20)
      for (const name of ['team', 'other', 'default', red.cluster, green.cluster])
        assert.ok(!token.includes(name), token)
    })
  }
