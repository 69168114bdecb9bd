import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  CustomObjectsApi,
  type KubeConfig,
  type KubernetesObject,
  ListWatch,
  makeInformer,
} from '@kubernetes/client-node'
import { ClusterWatch, keyed } from '../../../examples/clusterwatch.ts'
import type { KubeObject } from '../../../framework/index.ts'
import { clientOf } from '../../support/client.ts'
import { needsLastingStore } from '../../support/notrun.ts'
import { discard, eventually, kubectlFor, type Oriel, startOriel } from '../../support/oriel.ts'
import { root } from '../../support/source.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply, type Tenant } from '../../support/tenants.ts'
import { configAt, userAt } from '../../support/watcher.ts'

const resource = { group: 'example.com', version: 'v1', plural: 'widgets' }
const path = '/apis/example.com/v1/widgets'

const widget = (name: string, size = 1): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name, namespace: 'default' },
  spec: { color: 'red', size },
})

interface List extends KubernetesObject {
  readonly items: KubernetesObject[]
}

/** An informer of the client library over all consumers, and the events that it has reported. */
function follow(config: KubeConfig) {
  const told: string[] = []
  const count = { lists: 0, errors: 0 }
  const api = config.makeApiClient(CustomObjectsApi)
  const list = async () => {
    count.lists++
    const found: List = await api.listCustomObjectForAllNamespaces(resource)
    return { ...found, items: found.items.map(keyed) }
  }
  const informer = new ListWatch<KubernetesObject>(path, new ClusterWatch(config), list as never, false)
  for (const event of ['add', 'update', 'delete'] as const)
    informer.on(event, object => void told.push(`${event} ${idOf(object)}`))
  informer.on('error', () => void count.errors++)
  return { informer, told, count, state: () => informer.list().map(stateOf).sort() }
}

const idOf = ({ metadata }: KubernetesObject): string => `${metadata?.namespace}/${metadata?.name}`
const stateOf = (object: KubernetesObject): string => `${idOf(object)} ${object.metadata?.resourceVersion}`

describe('informers of @kubernetes/client-node', function () {
  this.timeout(120_000)
  let oriel: Oriel
  let consumers: readonly Tenant[]
  let url: string
  let clusters: Readonly<Record<string, string>>
  /** The provider's controller is an ordinary user, because the token of kcp-admin changes with every start. */
  const start = (directory: string, ...args: readonly string[]) =>
    startOriel({ directory, args: ['--token-auth-file', join(directory, 'tokens.csv'), ...args] })
  const walkthrough = (file: string) => ['apply', '-f', join(root, 'examples/walkthrough', file)]

  before(async () => {
    const directory = await temporaryDirectory('informers')
    await writeFile(join(directory, 'tokens.csv'), 'controller-token,controller,1\n')
    oriel = await start(directory)
    const admin = kubectlFor(oriel, 'root')
    await admin(walkthrough('workspaces.yaml'))
    const names = ['red', 'green']
    const all = ['provider', ...names].map(name => `workspace/${name}`)
    await admin(['wait', '--for=jsonpath={.status.phase}=Ready', ...all])
    const provider = admin.at('/clusters/root:provider')
    await provider(walkthrough('provider.yaml'))
    await provider([
      'create',
      'clusterrole',
      'content',
      '--verb=*',
      '--resource=apiexports.apis.kcp.io/content',
    ])
    for (const role of ['content', 'system:kcp:workspace:access'])
      await provider([
        'create',
        'clusterrolebinding',
        role.replaceAll(':', '-'),
        `--clusterrole=${role}`,
        '--user=controller',
      ])
    clusters = Object.fromEntries(
      await Promise.all(
        names.map(async name => [
          name,
          await admin(['get', 'workspace', name, '-o', 'jsonpath={.spec.cluster}']),
        ]),
      ),
    )
    consumers = names.map(name => {
      const kubectl = admin.at(`/clusters/root:${name}`)
      return { path: `root:${name}`, cluster: clusters[name] ?? '', kubectl }
    })
    for (const { kubectl } of consumers) {
      await kubectl(walkthrough('binding.yaml'))
      await kubectl(['wait', '--for=condition=Ready', 'apibinding/widgets'])
      await apply(kubectl, widget('mine'))
    }
    const slice = ['get', 'apiexportendpointslice', 'widgets.example.com']
    await provider(['wait', '--for=jsonpath={.status.endpoints[0].url}', ...slice.slice(1)])
    url = await provider([...slice, '-o', 'jsonpath={.status.endpoints[0].url}'])
  })
  after(() => discard(oriel))

  const here = (): KubeConfig => userAt(oriel, `${url}/clusters/*`, 'controller-token')
  const one = () => consumers[0] as Tenant
  const two = () => consumers[1] as Tenant

  /** The objects of a list, as the informer keys them. */
  const truth = async (): Promise<readonly string[]> => {
    const client = await clientOf(here())
    const { items = [] } = (await client(path)).json()
    client.close()
    return items.map(item => stateOf(keyed(item as unknown as KubernetesObject))).sort()
  }

  const converged = async (following: ReturnType<typeof follow>): Promise<void> => {
    const expected = await truth()
    await eventually(
      async () => following.state(),
      state => JSON.stringify(state) === JSON.stringify(expected),
    )
  }

  it('have the objects of a list in the end, with any failures in between', async () => {
    const following = follow(here())
    await following.informer.start()
    const client = await clientOf(configAt(oriel, `${url}/clusters/${one().cluster}`))
    const at = `/apis/example.com/v1/namespaces/default/widgets`
    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const name = `w${i}`
        const created = await client(at, { method: 'POST', body: widget(name) })
        assert.equal(created.status, 201, created.text)
        if (i % 2 === 0) {
          const body = { spec: { size: i + 2 } }
          const headers = { 'content-type': 'application/merge-patch+json' }
          assert.equal((await client(`${at}/${name}`, { method: 'PATCH', headers, body })).status, 200)
        }
        if (i % 3 === 0) assert.equal((await client(`${at}/${name}`, { method: 'DELETE' })).status, 200)
      }),
    )
    client.close()
    await converged(following)
    assert.equal(following.count.errors, 0)
    await following.informer.stop()
  })

  it('made by makeInformer work through the URL of one logical cluster', async () => {
    const config = configAt(oriel, `${url}/clusters/${two().cluster}`)
    const api = config.makeApiClient(CustomObjectsApi)
    const list = () => api.listCustomObjectForAllNamespaces(resource)
    const informer = makeInformer<KubernetesObject>(config, path, list as never)
    const seen: string[] = []
    informer.on('add', object => void seen.push(object.metadata?.name ?? ''))
    await informer.start()
    await apply(two().kubectl, widget('second'))
    await eventually(
      async () => seen,
      names => names.includes('second'),
    )
    assert.deepEqual(seen, ['mine', 'second'])
    await informer.stop()
  })

  it('resume after the server was killed', async function () {
    needsLastingStore(this)
    const following = follow(here())
    await following.informer.start()
    await converged(following)
    const told = [...following.told]
    await apply(one().kubectl, widget('just-before'))
    await oriel.kill()
    await eventually(
      async () => following.count.errors,
      errors => errors > 0,
    )
    const { port } = new URL(oriel.url)
    const { directory } = oriel
    oriel = await start(directory, '--port', port)
    await following.informer.start()
    await apply(two().kubectl, widget('just-after'))
    await converged(following)
    assert.equal(following.count.lists, 1, 'it has resumed its watch')
    assert.deepEqual(following.told.slice(told.length), [
      `add ${one().cluster}/default/just-before`,
      `add ${two().cluster}/default/just-after`,
    ])
    await following.informer.stop()
  })

  it('get the new URL of a server that restarts on another port, with all objects', async function () {
    needsLastingStore(this)
    const before = await truth()
    const { url: old, directory } = oriel
    assert.equal(await oriel.stop(), 0)
    oriel = await start(directory)
    assert.notEqual(oriel.url, old)
    const provider = kubectlFor(oriel, 'root').at('/clusters/root:provider')
    const slice = ['get', 'apiexportendpointslice', 'widgets.example.com', '-o']
    url = await eventually(
      () => provider([...slice, 'jsonpath={.status.endpoints[*].url}']),
      found => found.startsWith(oriel.url) && !found.includes(old),
    )
    assert.deepEqual(await truth(), before)
  })

  it('print every widget of every consumer, as the example does', async () => {
    const example = spawn(process.execPath, ['dist/examples/informer.js'], {
      cwd: root,
      env: { ...process.env, KUBECONFIG: oriel.kubeconfig },
    })
    const printed: string[] = []
    for (const stream of [example.stdout, example.stderr])
      stream.setEncoding('utf8').on('data', chunk => printed.push(chunk))
    const prints = (line: string) =>
      eventually(
        async () => printed.join(''),
        text => text.split('\n').includes(line),
      )
    for (const { cluster } of consumers) await prints(`add ${cluster}/default/mine`)
    await kubectlFor(oriel, 'root').at(`/clusters/${one().cluster}`)(['delete', 'widget', 'mine'])
    await prints(`delete ${one().cluster}/default/mine`)
    assert.ok(!printed.join('').includes(`delete ${two().cluster}/default/mine`))
    example.kill()
    await once(example, 'exit')
  })
})
