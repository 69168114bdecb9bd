import assert from 'node:assert/strict'
import { join } from 'node:path'
import { clientOf } from './support/client.ts'
import { notRun } from './support/notrun.ts'
import { discard, eventually, type Oriel, readText, startOriel } from './support/oriel.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from './support/servers/etcd.ts'
import { root } from './support/source.ts'
import { configAt } from './support/watcher.ts'

const workspaces = 10
const kibi = 1024
const collection = '/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces'

/** An object of a workspace. */
interface Entry {
  readonly resource: string
  /** Bytes of its key and value. */
  readonly size: number
}

const inBase64 = (text: string): string => Buffer.from(text).toString('base64')

/** The objects in the logical clusters of workspaces, and the Workspaces: `registry/<cluster>/<group>/<resource>/…`. */
async function entriesOf(etcd: Etcd): Promise<readonly Entry[]> {
  const range = { key: inBase64('/oriel/objects/'), range_end: inBase64('/oriel/objects0') }
  const { kvs } = await etcd.post('kv/range', range)
  return (kvs as readonly { readonly key: string; readonly value: string }[]).flatMap(({ key, value }) => {
    const bytes = Buffer.from(key, 'base64')
    const [cluster = '', , resource = ''] = bytes.toString().split('/').slice(4)
    const isOwn = resource === 'workspaces' || /^[0-9a-z]{10,}$/.test(cluster)
    return isOwn ? [{ resource, size: bytes.length + Buffer.from(value, 'base64').length }] : []
  })
}

async function makeWorkspaces(server: Oriel): Promise<void> {
  const client = await clientOf(configAt(server, server.url))
  for (let i = 0; i < workspaces; i++) {
    const body = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name: `size-${i}` } }
    assert.equal((await client(collection, { method: 'POST', body })).status, 201)
  }
  const phases = async () =>
    (await client(collection)).json<{ items: readonly { status?: { phase?: string } }[] }>().items
  await eventually(
    phases,
    items => items.filter(({ status }) => status?.phase === 'Ready').length >= workspaces,
  )
  client.close()
}

/** The rows of the page, and the resources in each. */
const rows: Readonly<Record<string, readonly string[]>> = {
  'two APIBindings': ['apibindings'],
  'two ConfigMaps `kube-root-ca.crt`': ['configmaps'],
  LogicalCluster: ['logicalclusters'],
  'two Namespaces, two ServiceAccounts': ['namespaces', 'serviceaccounts'],
  Workspace: ['workspaces'],
  ClusterRoleBinding: ['clusterrolebindings'],
}

/** Objects of an empty workspace. */
const objects = 2 + 2 + 1 + 2 + 2 + 1 + 1

if (etcdProgram() === undefined) notRun('the size of a workspace in etcd', noEtcd)
else
  describe('docs/scaling.md', () => {
    let etcd: Etcd
    let entries: readonly Entry[]
    let page: string
    before(async () => {
      page = await readText(join(root, 'docs/scaling.md'))
      etcd = await startEtcd()
      const server = await startOriel({ args: ['--store', `etcd://${etcd.endpoint}`] })
      await makeWorkspaces(server)
      entries = await eventually(
        () => entriesOf(etcd),
        found => found.length >= objects * workspaces,
      )
      await discard(server)
    })
    after(() => etcd.stop())

    const kibiOf = (found: readonly Entry[]): number =>
      found.reduce((sum, { size }) => sum + size, 0) / workspaces / kibi

    it('names all objects of an empty workspace', () => {
      assert.deepEqual(
        [...new Set(entries.map(({ resource }) => resource))].toSorted(),
        Object.values(rows).flat().toSorted(),
      )
      assert.equal(entries.length, objects * workspaces)
    })

    for (const [row, resources] of Object.entries(rows))
      it(`has the size of ${row}`, () => {
        const [, written = ''] = new RegExp(`^\\| ${row} \\| ([\\d.]+) KiB \\|$`, 'm').exec(page) ?? []
        const found = kibiOf(entries.filter(({ resource }) => resources.includes(resource)))
        assert.ok(Math.abs(found - Number(written)) <= 0.15, `${row}: ${found} KiB, not ${written}`)
      })

    it('has the sum', () => {
      const [, written = ''] = /^\| all keys and values \| ([\d.]+) KiB \|$/m.exec(page) ?? []
      const found = kibiOf(entries)
      assert.ok(Math.abs(found - Number(written)) <= 0.3, `${found} KiB, not ${written}`)
    })
  })
