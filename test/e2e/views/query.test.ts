import assert from 'node:assert/strict'
import { compiled, discard, eventually, type Kubectl, kubectlFor, run } from '../../support/oriel.ts'
import { apply, rolesFor } from '../../support/tenants.ts'
import { userAt, watch } from '../../support/watcher.ts'
import { ViewScene, widget, widgets } from './declared/scene.ts'

describe('oriel query', function () {
  this.timeout(60_000)
  let scene: ViewScene
  before(async () => {
    scene = await ViewScene.start()
    const { red, green } = scene.consumers
    await apply(red.kubectl, widget('a', 'red'), widget('b', 'blue'))
    await apply(green.kubectl, widget('c', 'red'))
    const lists = { apiGroups: ['example.com'], resources: ['widgets'], verbs: ['list', 'watch'] }
    await apply(red.kubectl, ...rolesFor('ada', lists))
  })
  after(() => discard(scene.oriel))

  const query = (...args: readonly string[]) => {
    const own = ['--kubeconfig', scene.oriel.kubeconfig, '--context', 'shard-base']
    return run(process.execPath, [compiled, 'query', ...args, ...own])
  }

  it('prints the objects of all workspaces for which an expression is true', async () => {
    const { code, stdout, stderr } = await query(
      "object.spec.color == 'red'",
      'widgets',
      '--order-by',
      'object.metadata.name desc',
    )
    assert.equal(code, 0, stderr)
    const [head = '', ...rows] = stdout
      .trim()
      .split('\n')
      .map(line => line.split(/\s{2,}/))
    assert.deepEqual([head[0], head.at(-1)], ['NAMESPACE', 'WORKSPACE'])
    assert.deepEqual(
      rows.map(row => [row[1], row.at(-1)]),
      [
        ['c', 'root:green'],
        ['a', 'root:red'],
      ],
    )
    const one = await query(
      '',
      'widgets.example.com',
      '--workspace',
      'root:red',
      '-n',
      'default',
      '-o',
      'json',
    )
    assert.equal(one.code, 0, one.stderr)
    assert.equal(JSON.parse(one.stdout).items.length, 2, one.stderr)
  })

  it('says what is wrong in one sentence', async () => {
    const wrong = await query('object.spec.colour == 1', 'widgets')
    assert.equal(wrong.code, 1)
    assert.match(
      wrong.stderr,
      /^oriel: The query failed: where: line 1, column 12: undefined field 'colour' .*\n$/,
    )
    const unknown = await query('', 'gadgets')
    assert.match(unknown.stderr, /The server has no resource "gadgets" that you can list/)
  })

  const path = '/services/query/clusters/*/apis/example.com/v1/widgets'

  it('answers a user with the objects that this user may list', async () => {
    const ada = await scene.as('ada', scene.oriel.url)
    const items = (await ada(path)).json().items ?? []
    assert.deepEqual(items.map(({ metadata }) => metadata.name).sort(), ['a', 'b'])
    const eve = await scene.as('eve', scene.oriel.url)
    assert.equal((await eve(path)).status, 404)
  })

  describe('about labels of a Workspace that few may read', () => {
    const configMaps = '/services/query/clusters/*/api/v1/configmaps'
    const expression = "'customer' in cluster.labels && cluster.labels['customer'] == 'acme'"
    let inner: Kubectl

    before(async () => {
      const { red } = scene.consumers
      const metadata = { name: 'inner', labels: { customer: 'acme' } }
      await apply(red.kubectl, { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata })
      await red.kubectl(['wait', '--for=jsonpath={.status.phase}=Ready', 'workspace/inner'])
      inner = red.kubectl.at('/clusters/root:red:inner')
      const lists = { apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] }
      const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } }
      await apply(inner, configMap, ...rolesFor('ada', lists))
    })

    async function found(): Promise<readonly (string | undefined)[]> {
      const ada = await scene.as('ada', scene.oriel.url)
      const fields = { fieldSelector: 'metadata.name=a' }
      const { status, json, text } = await ada(
        `${configMaps}?${new URLSearchParams({ where: expression, ...fields })}`,
      )
      assert.equal(status, 200, text)
      return (json().items ?? []).map(({ metadata }) => metadata.name)
    }

    it('selects objects by them for an administrator', async () => {
      const { stdout, stderr } = await query(expression, 'configmaps')
      assert.match(stdout, /\ba\b.*root:red:inner/, stderr)
    })

    it('has none of them for users who may not get the Workspace, and follows that permission', async () => {
      const config = userAt(scene.oriel, scene.oriel.url, 'ada-token')
      const watcher = await watch(config, configMaps, { where: expression, fieldSelector: 'metadata.name=a' })
      assert.deepEqual(await found(), [])
      const gets = { apiGroups: ['tenancy.kcp.io'], resources: ['workspaces'], verbs: ['get'] }
      const lists = { apiGroups: ['example.com'], resources: ['widgets'], verbs: ['list', 'watch'] }
      const { kubectl } = scene.consumers.red
      await apply(kubectl, ...rolesFor('ada', lists, { ...gets, resourceNames: ['inner'] }))
      await watcher.next(({ type }) => type === 'ADDED')
      assert.deepEqual(await found(), ['a'])
      await apply(kubectl, ...rolesFor('ada', lists))
      await watcher.next(({ type }) => type === 'DELETED')
      assert.deepEqual(await found(), [])
      watcher.stop()
    })
  })

  it('watches bound resources of several workspaces', async () => {
    const config = userAt(scene.oriel, scene.oriel.url, 'ada-token')
    const watcher = await watch(config, path, { where: "object.spec.color == 'red'" })
    const { red, green } = scene.consumers
    await watcher.next(({ object }) => object.metadata?.name === 'a')
    await apply(green.kubectl, widget('d', 'red'))
    await apply(red.kubectl, widget('b', 'red'))
    await apply(red.kubectl, widget('a', 'blue'))
    await watcher.next(({ type }) => type === 'DELETED')
    assert.deepEqual(
      watcher.seen.map(({ type, object }) => `${type} ${object.metadata?.name}`),
      ['ADDED a', 'ADDED b', 'DELETED a'],
    )
    watcher.stop()
  })

  it('ends to show what a new maximal permission policy of the export does not allow', async () => {
    const config = userAt(scene.oriel, scene.oriel.url, 'ada-token')
    const watcher = await watch(config, path, { fieldSelector: 'metadata.name=b' })
    await watcher.next(({ type }) => type === 'ADDED')
    const { provider, consumers } = scene
    const policed = (policy: object | null) => {
      const spec = { maximalPermissionPolicy: policy }
      return provider([
        'patch',
        'apiexport',
        'widgets.example.com',
        '--type=merge',
        '-p',
        JSON.stringify({ spec }),
      ])
    }
    await policed({ local: {} })
    const ada = await scene.as('ada', scene.oriel.url)
    await eventually(
      () => ada(`/clusters/${consumers.red.cluster}${widgets}`),
      ({ status }) => status === 403,
    )
    await apply(kubectlFor(scene.oriel, 'shard-base').at('/clusters/root:red'), widget('b', 'green'))
    await watcher.next(() => watcher.seen.length === 2)
    assert.equal(watcher.seen[1]?.type, 'DELETED', JSON.stringify(watcher.seen[1]))
    await policed(null)
    await watcher.next(() => watcher.seen.length === 3)
    watcher.stop()
  })
})
