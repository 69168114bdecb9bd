import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject } from '../../../framework/index.ts'
import type { Client } from '../../support/client.ts'
import { needsLastingStore } from '../../support/notrun.ts'
import { eventually, kubectlFor } from '../../support/oriel.ts'
import { type FrontProxy, startFrontProxy } from '../../support/servers/frontproxy.ts'
import { type Shards, startShards } from '../../support/servers/shards.ts'
import { apply } from '../../support/tenants.ts'

const workspace = (name: string, shard: string): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name },
  spec: { location: { selector: { matchLabels: { name: shard } } } },
})

const note = (name: string, color: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { color },
})

const where = encodeURIComponent("object.metadata.name in ['a', 'b'] && has(object.data)")
const all = '/services/query/clusters/*/api/v1/configmaps'
const reads = ['get', 'list', 'watch'].map(verb => `--verb=${verb}`)

describe('queries over the logical clusters of two shards', function () {
  this.timeout(180_000)
  let folder: string
  let shards: Shards
  let proxy: FrontProxy
  let nobody: Client

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oriel-shardedqueries-'))
    shards = await startShards(folder)
    proxy = await startFrontProxy({ folder, name: 'proxy', shards: [shards.root, shards.beta] })
    const root = proxy.kubectl.at('/clusters/root')
    await root(['wait', '--for=create', 'shard/beta'])
    for (const shard of ['root', 'beta']) {
      await apply(root, workspace(`notes-${shard}`, shard))
      await root(['wait', '--for=jsonpath={.status.phase}=Ready', `workspace/notes-${shard}`])
      const inside = proxy.kubectl.at(`/clusters/root:notes-${shard}`)
      await apply(inside, note('a', 'red'), note('b', 'blue'))
      await inside(['create', 'clusterrole', 'notes', ...reads, '--resource=configmaps'])
      for (const role of ['notes', 'system:kcp:workspace:access'])
        await inside([
          ...['create', 'clusterrolebinding', role.replaceAll(':', '-')],
          ...[`--clusterrole=${role}`, '--user=nobody'],
        ])
    }
    nobody = await proxy.client('nobody-token')
    await eventually(
      () => nobody(`${all}?where=${where}`),
      ({ status, json }) => status === 200 && json().items?.length === 4,
    )
  })
  after(async () => {
    nobody.close()
    await proxy.stop()
    await Promise.all([shards.root.stop(), shards.beta.stop()])
    await rm(folder, { recursive: true })
  })

  it('have the objects of both shards, page by page, without a warning', async () => {
    const names: (string | undefined)[] = []
    for (let token = ''; ; ) {
      const { json, status, text, headers } = await nobody(`${all}?where=${where}&limit=1&continue=${token}`)
      assert.equal(status, 200, text)
      assert.equal(headers.warning, undefined)
      names.push(...(json().items ?? []).map(({ metadata }) => metadata.name))
      token = json().metadata.continue ?? ''
      if (token === '') break
    }
    assert.deepEqual(names.toSorted(), ['a', 'a', 'b', 'b'])
  })

  it('are ordered over both shards, as a Table', async () => {
    const order = encodeURIComponent("object.data['color'] desc")
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
    const { json, text } = await nobody(`${all}?where=${where}&orderBy=${order}`, {
      headers: { accept },
    })
    const { rows } = json<{ rows: { cells: string[] }[] }>()
    assert.deepEqual(
      rows.map(({ cells }) => cells[0]),
      ['a', 'a', 'b', 'b'],
      text,
    )
    const workspaces = rows.map(({ cells }) => cells.at(-1))
    assert.deepEqual([...new Set(workspaces)].toSorted(), ['root:notes-beta', 'root:notes-root'])
  })

  it('are watched on both shards', async () => {
    const { json } = await nobody(`${all}?where=${where}`)
    const { resourceVersion } = json().metadata
    const watch = await nobody.watch(`${all}?where=${where}&watch=true&resourceVersion=${resourceVersion}`)
    for (const shard of ['root', 'beta']) {
      const inside = proxy.kubectl.at(`/clusters/root:notes-${shard}`)
      await inside(['label', 'configmap', 'a', `seen=${shard}`])
      const event = await watch.next()
      assert.equal(event?.type, 'MODIFIED')
      assert.equal(event.object.metadata.labels?.seen, shard)
    }
    watch.leave()
  })

  it('work with kubectl', async () => {
    const kubectl = proxy.kubectl.at('/services/query/clusters/*')
    const printed = await kubectl(['get', 'configmaps', '--all-namespaces'])
    for (const shard of ['root', 'beta']) assert.match(printed, new RegExp(`root:notes-${shard}`))
  })

  it('are refused in formats other than JSON, which the error names', async () => {
    for (const accept of ['application/yaml', 'application/vnd.kubernetes.protobuf']) {
      const { status, text } = await nobody(all, { headers: { accept } })
      assert.equal(status, 406, text)
      assert.match(text, /only the following media types are accepted: application\/json/)
    }
  })

  it('are 503 with the name of a shard that is gone, end their watches, and go on when it is back', async function () {
    needsLastingStore(this)
    const { json } = await nobody(`${all}?where=${where}&limit=1`)
    const { resourceVersion, continue: token = '' } = json().metadata
    const metricsOf = kubectlFor(shards.root, 'root')
    const watched = `${all}?where=${where}&watch=true`
    const watch = await nobody.watch(`${watched}&resourceVersion=${resourceVersion}`)
    const open = async () => sumOf('oriel_view_watches', await metricsOf(['get', '--raw', '/metrics']))
    await eventually(open, watches => watches === 1)
    await shards.beta.kill()
    assert.equal(await watch.next(), undefined)
    await eventually(open, watches => watches === 0)
    const following = `${all}?where=${where}&limit=9&continue=${token}`
    for (const path of [
      `${all}?where=${where}`,
      following,
      `${watched}&resourceVersion=${resourceVersion}`,
    ]) {
      const { status, text } = await nobody(path)
      assert.equal(status, 503, text)
      assert.match(text, /the shard beta cannot be asked/)
    }
    const inside = '/services/query/clusters/root:notes-root/api/v1/configmaps'
    assert.equal((await nobody(`${inside}?where=${where}`)).json().items?.length, 2)
    shards = { ...shards, beta: await shards.restartBeta() }
    const isBack = ({ status }: { readonly status: number }) => status === 200
    const { json: joined } = await eventually(() => nobody(`${all}?where=${where}`), isBack)
    assert.equal(joined().items?.length, 4)
  })
})

/** The sum of a metric of the view of queries, over all processes of a server. */
function sumOf(metric: string, text: string): number {
  const samples = text.matchAll(new RegExp(`^${metric}\\{[^}]*view="query"[^}]*\\} (\\d+)$`, 'gm'))
  return [...samples].reduce((sum, [, value]) => sum + Number(value), 0)
}
