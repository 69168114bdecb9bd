import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import type { KubeObject } from '../../framework/index.ts'
import { startServer } from '../support/kcp.ts'
import { discard, eventually, type Kubectl, type Oriel } from '../support/oriel.ts'
import {
  apply,
  bind,
  bindingOf,
  createWorkspaces,
  exportApi,
  publishedUrl,
  type Tenant,
} from '../support/tenants.ts'

// The commands of kubectl, each as people type it (chapter 40, section 10.2).

const group = 'kubectl.example.com'

const widgets: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: {
      plural: 'widgets',
      singular: 'widget',
      kind: 'Widget',
      listKind: 'WidgetList',
      shortNames: ['wd'],
      categories: ['all'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [
          { name: 'Color', type: 'string', jsonPath: '.spec.color' },
          { name: 'Size', type: 'integer', jsonPath: '.spec.size', priority: 1 },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                description: 'What the widget is like.',
                type: 'object',
                properties: {
                  color: { description: 'Its color.', type: 'string', enum: ['red', 'blue'] },
                  size: { type: 'integer' },
                },
              },
            },
          },
        },
      },
    ],
  },
}

const widget = (name: string, spec: object): KubeObject => ({
  apiVersion: `${group}/v1`,
  kind: 'Widget',
  metadata: { name, namespace: 'default' },
  spec,
})

const configMap = (name: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...metadata },
  data: { a: '1' },
})

/** Runs with an editor that does one substitution. */
async function editing<T>(substitution: string, work: () => Promise<T>): Promise<T> {
  process.env.KUBE_EDITOR = `sed -i ${substitution}`
  try {
    return await work()
  } finally {
    delete process.env.KUBE_EDITOR
  }
}

describe('kubectl', function () {
  this.timeout(180_000)
  let oriel: Oriel
  let tenant: Tenant
  let view: Kubectl

  before(async () => {
    oriel = await startServer()
    const [provider, consumer] = await createWorkspaces(oriel, ['kubectl-provider', 'kubectl'])
    assert.ok(provider && consumer)
    tenant = consumer
    await exportApi(provider, widgets, [])
    await bind(tenant, bindingOf(provider, group, []))
    view = provider.kubectl.at(`${await publishedUrl(provider, group)}/clusters/${tenant.cluster}`)
    const described = (kubectl: Kubectl) =>
      eventually(
        () => kubectl.try(['explain', 'widgets']),
        ({ code }) => code === 0,
      )
    await Promise.all([tenant.kubectl, view].map(described))
  })
  after(() => discard(oriel))

  const targets: readonly (readonly [where: string, kubectl: () => Kubectl])[] = [
    ['in a workspace', () => tenant.kubectl],
    ['through the view', () => view],
  ]
  for (const [where, target] of targets)
    describe(where, () => {
      const kubectl = (args: readonly string[], input?: string) => target()(args, input)
      const name = (of: string): string => `${of}-${where.replaceAll(' ', '-')}`
      const color = async (of: string): Promise<string> =>
        kubectl(['get', 'wd', of, '-o', 'jsonpath={.spec.color}'])

      it('explain', async () => {
        const fields = await kubectl(['explain', 'widget.spec'])
        assert.match(
          fields,
          /What the widget is like\.[\s\S]*color\t<string>\n\s*enum: red, blue\n\s*Its color\./,
        )
        assert.match(
          await kubectl(['explain', 'widget', '--recursive']),
          /spec\t<Object>\n {4}color\t<string>/,
        )
        const unknown = await target().try(['explain', 'widget.spec.shape'])
        assert.match(unknown.stderr, /field "shape" does not exist/)
      })

      it('api-resources', async () => {
        // Real kcp's view serves no core group, which kubectl complains about after it has printed the others.
        const { stdout } = await target().try(['api-resources', '-o', 'wide', `--api-group=${group}`])
        const line = stdout.split('\n')[1] ?? ''
        const [plural, short, version, namespaced, kind, verbs = '', category] = line.split(/ {2,}/)
        assert.deepEqual(
          [plural, short, version, namespaced, kind, verbs.split(',').sort().join(','), category],
          [
            'widgets',
            'wd',
            `${group}/v1`,
            'true',
            'Widget',
            'create,delete,deletecollection,get,list,patch,update,watch',
            'all',
          ],
        )
      })

      it('diff', async () => {
        await apply(target(), widget(name('diff'), { color: 'red' }))
        const same = JSON.stringify(widget(name('diff'), { color: 'red' }))
        assert.equal((await target().try(['diff', '-f', '-'], same)).code, 0)
        const other = JSON.stringify(widget(name('diff'), { color: 'blue' }))
        const { code, stdout } = await target().try(['diff', '-f', '-'], other)
        assert.equal(code, 1)
        assert.match(stdout, /^- {2}color: red\n\+ {2}color: blue$/m)
        assert.equal(await color(name('diff')), 'red')
      })

      it('edit', async () => {
        await apply(target(), widget(name('edit'), { color: 'red' }))
        const said = await editing('s/red/blue/', () => kubectl(['edit', 'widget', name('edit')]))
        assert.equal(said, `widget.${group}/${name('edit')} edited\n`)
        assert.equal(await color(name('edit')), 'blue')
        const refused = await editing('s/blue/mauve/', () => target().try(['edit', 'widget', name('edit')]))
        assert.match(refused.stderr, /^error: widgets.kubectl.example.com "edit-[a-z-]+" is invalid$/m)
        await rm(/stored to "([^"]+)"/.exec(refused.stderr)?.[1] ?? '', { force: true })
      })

      it('replace --force', async () => {
        await apply(target(), widget(name('replace'), { color: 'red' }))
        const uid = () => kubectl(['get', 'wd', name('replace'), '-o', 'jsonpath={.metadata.uid}'])
        const before = await uid()
        const next = JSON.stringify(widget(name('replace'), { color: 'blue' }))
        const said = await kubectl(['replace', '--force', '-f', '-'], next)
        assert.match(said, /deleted[\s\S]*replaced/)
        assert.notEqual(await uid(), before)
        assert.equal(await color(name('replace')), 'blue')
      })

      it('wait', async () => {
        await apply(target(), widget(name('wait'), { color: 'red' }))
        const resource = `widget/${name('wait')}`
        const blue = kubectl(['wait', '--for=jsonpath={.spec.color}=blue', resource])
        await apply(target(), widget(name('wait'), { color: 'blue' }))
        assert.match(await blue, /condition met/)
        const gone = kubectl(['wait', '--for=delete', resource])
        await kubectl(['delete', resource])
        await gone
      })

      it('get -w -o wide', async () => {
        await apply(target(), widget(name('get'), { color: 'red', size: 1 }))
        let isOver = false
        const printed = target()
          .until(['get', 'widgets', name('get'), '-w', '-o', 'wide'], text => text.split('\n').length > 3)
          .finally(() => {
            isOver = true
          })
        for (let size = 2; !isOver; size++) await apply(target(), widget(name('get'), { color: 'red', size }))
        const lines = (await printed)
          .trimEnd()
          .split('\n')
          .map(line => line.split(/ +/))
        assert.deepEqual(lines[0], ['NAME', 'COLOR', 'SIZE'])
        assert.deepEqual(lines[1]?.slice(0, 2), [name('get'), 'red'])
        assert.ok(Number(lines[2]?.[2]) > Number(lines[1]?.[2]))
      })
    })

  it('apply --prune', async () => {
    const labels = { set: 'pruned' }
    const applied = (...names: readonly string[]) =>
      tenant.kubectl(
        ['apply', '--prune', '-l', 'set=pruned', '--prune-allowlist=core/v1/ConfigMap', '-f', '-'],
        names.map(each => JSON.stringify(configMap(each, { labels }))).join('\n'),
      )
    await applied('one', 'two')
    assert.match(await applied('two'), /configmap\/two unchanged\nconfigmap\/one pruned/)
    const left = await tenant.kubectl(['get', 'configmaps', '-l', 'set=pruned', '-o', 'name'])
    assert.equal(left, 'configmap/two\n')
  })

  it('delete --cascade=foreground', async () => {
    await apply(tenant.kubectl, configMap('owner'))
    const owner = await tenant.kubectl.json<KubeObject>(['get', 'configmap', 'owner'])
    const reference = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'owner',
      uid: owner.metadata.uid,
      blockOwnerDeletion: true,
    }
    await apply(tenant.kubectl, configMap('dependent', { ownerReferences: [reference] }))
    await tenant.kubectl(['delete', 'configmap', 'owner', '--cascade=foreground', '--timeout=60s'])
    const { stderr } = await tenant.kubectl.try(['get', 'configmap', 'dependent'])
    assert.match(stderr, /configmaps "dependent" not found/)
  })

  it('auth whoami and can-i --list', async () => {
    assert.match(await tenant.kubectl(['auth', 'whoami']), /^Username +\S+$/m)
    const list = await tenant.kubectl(['auth', 'can-i', '--list'])
    assert.match(list, /^Resources +Non-Resource URLs +Resource Names +Verbs$/m)
    assert.match(list, /^\*\.\* +\[\] +\[\] +\[\*\]$/m)
    assert.equal(await tenant.kubectl(['auth', 'can-i', 'delete', 'widgets']), 'yes\n')
  })

  it('create token', async () => {
    await apply(tenant.kubectl, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'robot', namespace: 'default' },
    })
    const token = await tenant.kubectl(['create', 'token', 'robot', '--duration=20m'])
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    assert.equal(claims.sub, 'system:serviceaccount:default:robot')
    assert.equal(claims.exp - claims.iat, 1200)
  })

  it('events', async () => {
    await apply(tenant.kubectl, configMap('eventful'))
    const { metadata } = await tenant.kubectl.json<KubeObject>(['get', 'configmap', 'eventful'])
    const involvedObject = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'eventful',
      namespace: 'default',
      uid: metadata.uid,
    }
    await tenant.kubectl(
      ['create', '-f', '-'],
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'eventful.1', namespace: 'default' },
        involvedObject,
        reason: 'Seen',
        message: 'somebody looked',
        type: 'Normal',
        firstTimestamp: '2026-01-02T03:04:05Z',
        lastTimestamp: '2026-01-02T03:04:05Z',
        count: 1,
        source: { component: 'test' },
      }),
    )
    const events = await tenant.kubectl(['events', '--for', 'configmap/eventful'])
    assert.match(events, /Normal +Seen +ConfigMap\/eventful +somebody looked/)
    assert.match(
      await tenant.kubectl(['describe', 'configmap', 'eventful']),
      /Normal +Seen .*test +somebody looked/,
    )
  })
})
