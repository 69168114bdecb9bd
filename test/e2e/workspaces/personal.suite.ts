import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, clientOf, type Stream } from '../../support/client.ts'
import { discard, kubectlFor, type Oriel } from '../../support/oriel.ts'
import { apply, createWorkspaces, rolesFor, type Tenant } from '../../support/tenants.ts'
import { configAt, userAt } from '../../support/watcher.ts'

const view = '/services/workspaces/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces'

const letIn = (user: string) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: `in-${user}` },
  roleRef: {
    apiGroup: 'rbac.authorization.k8s.io',
    kind: 'ClusterRole',
    name: 'system:kcp:workspace:access',
  },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
})

/** Starts a server with views: of the same process, or in front of it. Flags are those of the shard. */
type Start = (flags: readonly string[]) => Promise<Oriel>

/** The view `workspaces` of a server. */
export const personalFlows = (start: Start) =>
  function (this: Mocha.Suite): void {
    this.timeout(240_000)
    let oriel: Oriel
    let folder: string
    let alice: Client
    let admin: Client
    let red: Tenant
    let green: Tenant

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'oriel-personal-'))
      await writeFile(join(folder, 'tokens.csv'), 'alice-token,alice,1\n')
      oriel = await start(['--token-auth-file', join(folder, 'tokens.csv')])
      const made = await createWorkspaces(oriel, ['red', 'green', 'blue'])
      ;[red, green] = made as [Tenant, Tenant]
      const rule = {
        apiGroups: ['tenancy.kcp.io'],
        resources: ['workspaces'],
        verbs: ['get', 'list', 'watch'],
      }
      await apply(kubectlFor(oriel, 'root'), ...rolesFor('alice', rule))
      alice = await clientOf(userAt(oriel, oriel.viewsUrl, 'alice-token'))
      admin = await clientOf(configAt(oriel, oriel.viewsUrl, 'base'))
    })
    after(async () => {
      alice.close()
      admin.close()
      await discard(oriel)
      await rm(folder, { recursive: true })
    })

    const names = async (client: Client) => {
      const list = (await client(view)).json()
      return {
        names: (list.items ?? []).map(item => item.metadata.name),
        version: list.metadata.resourceVersion ?? '',
      }
    }
    /** The next event of a workspace; writes of controllers in between are skipped. */
    const next = async (watch: Stream, type: string): Promise<string | undefined> => {
      for (;;) {
        const event = await watch.next()
        assert.ok(event, `the watch ended before ${type}`)
        if (event.type === type) return event.object.metadata.name
      }
    }

    it('are all for administrators of the parent, and none for users without access', async () => {
      assert.deepEqual((await names(admin)).names, ['blue', 'green', 'red'])
      assert.deepEqual((await names(alice)).names, [])
      const plain = (
        await alice.at(oriel.url)('/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces')
      ).json()
      assert.equal(plain.items?.length, 3, 'the plain endpoint shows all')
    })

    it('are added and removed in a running watch when access changes', async () => {
      const { version } = await names(alice)
      const watch = await alice.watch(`${view}?watch=true&resourceVersion=${version}`)
      await apply(red.kubectl, letIn('alice'))
      assert.equal(await next(watch, 'ADDED'), 'red')
      await apply(green.kubectl, letIn('alice'))
      assert.equal(await next(watch, 'ADDED'), 'green')
      assert.deepEqual((await names(alice)).names, ['green', 'red'])
      assert.equal((await alice(`${view}/red`)).status, 200)
      await red.kubectl(['delete', 'clusterrolebinding', 'in-alice'])
      assert.equal(await next(watch, 'DELETED'), 'red')
      const hidden = await alice(`${view}/red`)
      const absent = await alice(`${view}/absent`)
      assert.equal(hidden.status, 404)
      assert.equal(hidden.text, absent.text.replaceAll('absent', 'red'))
      watch.leave()
    })

    it('have changes in a watch', async () => {
      const { version } = await names(alice)
      const watch = await alice.watch(`${view}?watch=true&resourceVersion=${version}`)
      const root = kubectlFor(oriel, 'root')
      await root(['label', 'workspace', 'blue', 'a=b'])
      await root(['label', 'workspace', 'green', 'a=b'])
      assert.equal(await next(watch, 'MODIFIED'), 'green')
      watch.leave()
    })

    it('have the changes since the version of a resumed watch, also those that are over', async () => {
      const root = kubectlFor(oriel, 'root')
      const resumed = async (client: Client, version: string, wanted: string): Promise<readonly string[]> => {
        const watch = await client.watch(`${view}?watch=true&resourceVersion=${version}`)
        const found = []
        for (let last = ''; last !== wanted; ) {
          const event = await watch.next()
          assert.ok(event, `the watch ended after ${found.join(', ')}`)
          last = `${event.type} ${event.object.metadata?.name ?? event.object.message}`
          assert.notEqual(event.type, 'ERROR', last)
          found.push(last)
        }
        watch.leave()
        return found
      }
      const { version } = await names(alice)
      await root(['label', 'workspace', 'green', 'resumed=yes'])
      assert.deepEqual(await resumed(alice, version, 'MODIFIED green'), ['MODIFIED green'])
      const kind = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace' }
      await apply(root, { ...kind, metadata: { name: 'late' } })
      await root(['wait', '--for=jsonpath={.status.phase}=Ready', 'workspace/late'])
      const made = await names(admin)
      await root(['delete', 'workspace', 'late'])
      const seen = await resumed(admin, made.version, 'DELETED late')
      assert.ok(seen.length > 1 && !seen.includes('ADDED late'), seen.join())
    })

    it('expire a resumed watch after the deletion of a workspace that may have been visible', async () => {
      const { version } = await names(alice)
      const root = kubectlFor(oriel, 'root')
      const kind = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace' }
      await apply(root, { ...kind, metadata: { name: 'gone' } })
      await root(['wait', '--for=jsonpath={.status.phase}=Ready', 'workspace/gone'])
      await root(['delete', 'workspace', 'gone'])
      const watch = await alice.watch(`${view}?watch=true&resourceVersion=${version}`)
      const first = watch.status === 410 ? 410 : (await watch.next())?.object.code
      assert.equal(first, 410)
      watch.leave()
    })

    it('expire a resumed watch when access has changed since', async () => {
      const { version } = await names(alice)
      await apply(red.kubectl, letIn('alice'))
      const watch = await alice.watch(`${view}?watch=true&resourceVersion=${version}`)
      const first = watch.status === 410 ? 410 : (await watch.next())?.object.code
      assert.equal(first, 410)
      watch.leave()
    })

    it('have continue tokens without the names of other workspaces', async () => {
      const list = (await alice(`${view}?limit=1`)).json()
      assert.equal(list.metadata.remainingItemCount, undefined)
      const token = list.metadata.continue ?? ''
      assert.doesNotMatch(Buffer.from(token, 'base64url').toString('latin1'), /blue|green/)
      const rest = (await alice(`${view}?limit=5&continue=${token}`)).json()
      const found = [...(list.items ?? []), ...(rest.items ?? [])].map(item => item.metadata.name)
      assert.deepEqual(found, (await names(alice)).names)
    })

    it('can be created, and are listed at once', async () => {
      const body = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name: 'mine' } }
      const headers = { 'content-type': 'application/json' }
      const made = await alice(view, { method: 'POST', headers, body })
      if (made.status === 403) return // Where users may not create workspaces below root.
      assert.equal(made.status, 201)
      assert.ok((await names(alice)).names.includes('mine'))
    })

    it('are tables for kubectl', async () => {
      const root = kubectlFor(oriel, 'root').at(`${oriel.viewsUrl}/services/workspaces/clusters/root`)
      assert.match(await root(['get', 'workspaces']), /^NAME +TYPE +REGION +PHASE +URL +AGE\n/)
    })
  }
