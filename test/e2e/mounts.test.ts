import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject } from '../../framework/index.ts'
import { type Client, clientOf } from '../support/client.ts'
import { discard, eventually, type Kubectl, kubectlFor, type Oriel, startOriel } from '../support/oriel.ts'
import { type Peer, type ProxyService, startPeer, startProxyService } from '../support/peer.ts'
import { remoteClusters } from '../support/remoteclusters.ts'
import { apply, createWorkspaces } from '../support/tenants.ts'
import { configAt, userAt } from '../support/watcher.ts'
import { testCertificates } from '../support/wire.ts'

const remote = (url: string, phase = 'Ready', name = 'my-remote-k8s') => `
apiVersion: example.io/v1alpha1
kind: RemoteCluster
metadata:
  name: ${name}
  annotations:
    experimental.tenancy.kcp.io/is-mount: "true"  # Required
spec:
  endpoint: "https://my-k8s-cluster.com"
status:
  URL: "${url}"  # Required: where requests will be proxied
  phase: "${phase}"                       # Required: mount status
`

const mounted = (name: string, to = 'my-remote-k8s', type?: string) => `
apiVersion: tenancy.kcp.io/v1alpha1
kind: Workspace
metadata:
  name: ${name}
spec:
  mount:${type === undefined ? '' : `\n    type: ${type}`}
    ref:
      apiVersion: example.io/v1alpha1
      kind: RemoteCluster
      name: ${to}
`

interface Workspace extends KubeObject {
  readonly spec: { readonly URL?: string }
  readonly status: {
    readonly phase: string
    readonly conditions?: readonly { type: string; status: string; reason?: string; message?: string }[]
  }
}

describe('mounted workspaces', function () {
  this.timeout(180_000)
  let oriel: Oriel
  let peer: Peer
  let service: ProxyService
  let root: Kubectl
  let client: Client
  let files: string

  before(async () => {
    files = await mkdtemp(join(tmpdir(), 'oriel-mounts-'))
    const { authority } = testCertificates()
    await writeFile(join(files, 'ca.crt'), authority.certificate)
    await writeFile(join(files, 'tokens.csv'), 'stranger-token,stranger,1\nguest-token,guest,2\n')
    ;[oriel, peer] = await Promise.all([
      startOriel({
        args: [
          ...['--mount-allow', '127.0.0.1', '--mount-ca-file', join(files, 'ca.crt')],
          ...['--token-auth-file', join(files, 'tokens.csv')],
        ],
      }),
      startPeer(),
    ])
    service = await startProxyService(peer.endpoint)
    root = kubectlFor(oriel, 'root')
    client = await clientOf(configAt(oriel, oriel.url, 'base'))
    await apply(root, remoteClusters)
    await root(['wait', '--for=condition=Established', 'crd/remoteclusters.example.io'])
    await root(['apply', '-f', '-'], remote(service.url))
    await root(['apply', '-f', '-'], mounted('remote-workspace'))
    await settled('remote-workspace', 'Ready')
  })
  after(async () => {
    client.close()
    await service.stop()
    await Promise.all([discard(oriel), peer.stop(), rm(files, { recursive: true })])
  })

  const workspace = (name: string) => root.json<Workspace>(['get', 'workspace', name])
  const settled = (name: string, phase: string) =>
    eventually(
      () => workspace(name),
      found => found.status.phase === phase,
    )
  const condition = ({ status }: Workspace) =>
    status.conditions?.find(({ type }) => type === 'WorkspaceMountReady')

  describe('as the documentation has it', () => {
    it('says where it leads', async () => {
      const found = await workspace('remote-workspace')
      assert.equal(found.spec.URL, service.url)
      assert.equal(condition(found)?.status, 'True')
    })
    it('is another cluster to kubectl', async () => {
      const there = root.at('/clusters/root:remote-workspace')
      const text = await there(['get', 'namespaces', '-o', 'name'])
      assert.match(text, /namespace\/default/)
      await there(['create', 'configmap', 'from-afar', '--from-literal=a=b'])
      assert.equal(await there(['get', 'configmap', 'from-afar', '-o', 'jsonpath={.data.a}']), 'b')
      const { code } = await root.try(['get', 'configmap', 'from-afar'])
      assert.equal(code, 1, 'it is not here')
    })
    it('answers kubectl get pods as the other cluster does', async () => {
      const kubeconfig = join(files, 'peer.kubeconfig')
      await writeFile(kubeconfig, peer.kubeconfig)
      const direct = kubectlFor({ ...oriel, kubeconfig }, 'peer')
      const there = root.at('/clusters/root:remote-workspace')
      for (const args of [
        ['get', 'pods'],
        ['api-resources', '-o', 'name'],
        ['get', 'namespaces', '-A', '-o', 'name'],
      ])
        assert.deepEqual(await there.try(args), await direct.try(args), args.join(' '))
    })
    it('watches through', async () => {
      const watch = await client.watch(
        '/clusters/root:remote-workspace/api/v1/namespaces/default/configmaps?watch=true',
      )
      const there = root.at('/clusters/root:remote-workspace')
      await there(['create', 'configmap', 'watched'])
      for (;;) {
        const event = await watch.next()
        if (event?.object.metadata.name === 'watched') break
        assert.ok(event, 'the watch ended')
      }
      watch.leave()
    })
    it('does not tell the other side who asks', () => {
      const { authorization, 'x-remote-user': user } = service.seen()
      assert.deepEqual([authorization, user], [undefined, undefined])
    })
    it('is listed among its siblings as what it is', async () => {
      const lines = await root(['get', 'workspaces', '--no-headers'])
      assert.match(lines, /^remote-workspace +Ready +https:\/\/127\.0\.0\.1:\d+/m)
    })
  })

  it('is for those who may enter its parent', async () => {
    const [org] = await createWorkspaces(oriel, ['org'])
    assert.ok(org)
    await apply(org.kubectl, remoteClusters)
    await org.kubectl(['wait', '--for=condition=Established', 'crd/remoteclusters.example.io'])
    await org.kubectl(['apply', '-f', '-'], remote(service.url))
    await org.kubectl(['apply', '-f', '-'], mounted('inner'))
    await org.kubectl(['wait', '--for=condition=WorkspaceMountReady', 'workspace/inner'])
    const path = '/clusters/root:org:inner/api/v1/namespaces'
    assert.equal((await client(path)).status, 200)
    for (const token of ['stranger-token', undefined]) {
      const other = await clientOf(userAt(oriel, oriel.url, token))
      const refused = await other(path)
      assert.equal(refused.status, 403)
      assert.doesNotMatch(refused.text, /127\.0\.0\.1/)
      other.close()
    }
  })

  it('has nothing below it', async () => {
    assert.equal((await client('/clusters/root:remote-workspace:child/api')).status, 404)
  })

  it('goes with the phase of its object, and ends watches cleanly', async () => {
    const path = '/clusters/root:remote-workspace/api/v1/namespaces/default/configmaps'
    const watch = await client.watch(`${path}?watch=true&resourceVersion=0`)
    await watch.next()
    await root(['apply', '-f', '-'], remote(service.url, 'Connecting'))
    const found = await settled('remote-workspace', 'Unavailable')
    assert.deepEqual(
      [condition(found)?.reason, condition(found)?.message],
      [
        'MountObjectNotReady',
        'Mount is not reporting ready. See RemoteCluster "my-remote-k8s" status for more details',
      ],
    )
    for (let event = await watch.next(); event !== undefined; ) event = await watch.next()
    const text = await client(path, { headers: { accept: 'text/plain' } })
    assert.deepEqual([text.status, text.text], [503, 'Not available.'])
    const status = await client(path, { headers: { accept: 'application/json' } })
    assert.deepEqual([status.json().message, status.headers['retry-after']], ['Not available.', '1'])
    await root(['apply', '-f', '-'], remote(service.url))
    await settled('remote-workspace', 'Ready')
    assert.equal((await client(path)).status, 200)
  })

  it('says when its object is missing, and comes back with it', async () => {
    await root(['delete', 'remotecluster', 'my-remote-k8s'])
    const found = await settled('remote-workspace', 'Unavailable')
    assert.deepEqual(
      [condition(found)?.reason, condition(found)?.message],
      ['MountObjectNotFound', 'RemoteCluster "/my-remote-k8s" not found'],
    )
    await root(['apply', '-f', '-'], remote(service.url))
    await settled('remote-workspace', 'Ready')
  })

  it('waits for a kind that is not there yet', async () => {
    const later = { ...remoteClusters, metadata: { name: 'latecomers.example.io' } }
    const names = { plural: 'latecomers', singular: 'latecomer', kind: 'Latecomer' }
    await root(['apply', '-f', '-'], mounted('late').replace('kind: RemoteCluster', 'kind: Latecomer'))
    const found = await settled('late', 'Unavailable')
    assert.equal(
      condition(found)?.message,
      'no matches for kind "Latecomer" in version "example.io/v1alpha1"',
    )
    await apply(root, { ...later, spec: { ...later.spec, names } })
    await root(['wait', '--for=condition=Established', 'crd/latecomers.example.io'])
    await root(['apply', '-f', '-'], remote(service.url).replace('kind: RemoteCluster', 'kind: Latecomer'))
    await settled('late', 'Ready')
  })

  it('never changes where it leads by itself', async () => {
    const patch = (text: string) =>
      root.try(['patch', 'workspace', 'remote-workspace', '--type=merge', '-p', text])
    for (const [text, message] of [
      ['{"spec":{"mount":{"ref":{"name":"other"}}}}', /mount is immutable|spec.mount.name is immutable/],
      ['{"spec":{"mount":{"type":"Redirect"}}}', /mount.* immutable/],
      ['{"spec":{"mount":null}}', /spec.mount is immutable/],
      ['{"spec":{"URL":"https://example.com"}}', /spec.URL can only be changed by system privileged users/],
      ['{"spec":{"type":{"name":"universal","path":"root"}}}', /spec.type/],
    ] as const) {
      const { code, stderr } = await patch(text)
      assert.equal(code, 1, text)
      assert.match(stderr, message)
    }
    for (const [manifest, message] of [
      [mounted('bad').replace('example.io/v1alpha1', 'a/b/c'), /spec.mount.apiVersion must be/],
      [mounted('bad').replace('  mount:', '  type: {name: universal}\n  mount:'), /spec.type cannot be set/],
      [mounted('bad', 'x', 'Elsewhere'), /Unsupported value: "Elsewhere"/],
    ] as const) {
      const { code, stderr } = await root.try(['create', '-f', '-'], manifest)
      assert.equal(code, 1)
      assert.match(stderr, message)
    }
  })

  for (const [what, url, status, message] of [
    ['a URL that is not absolute', '/clusters/root', 0, /is not an absolute URL/],
    ['credentials in the URL', 'https://a:b@example.com', 0, /without credentials/],
    ['http', 'http://127.0.0.1:1', 503, /its scheme is not https/],
    ['a private address', 'https://10.0.0.1', 503, /must not be reached/],
    ['nobody at the address', 'https://127.0.0.1:1', 502, /connection refused/],
  ] as const)
    it(`is clear about ${what}`, async () => {
      await root(['apply', '-f', '-'], remote(url, 'Ready', 'bad'))
      await root(['apply', '-f', '-'], mounted('bad', 'bad'))
      if (status === 0) assert.match(condition(await settled('bad', 'Unavailable'))?.message ?? '', message)
      else {
        await eventually(
          () => workspace('bad'),
          found => found.spec.URL === url && found.status.phase === 'Ready',
        )
        const reply = await client('/clusters/root:bad/api', { headers: { accept: 'application/json' } })
        assert.equal(reply.status, status)
        assert.match(reply.json().message ?? '', message)
      }
      await root(['delete', 'workspace/bad', 'remotecluster/bad'])
    })

  describe('of other workspaces', () => {
    before(async () => {
      await createWorkspaces(oriel, ['target'])
      await root.at('/clusters/root:target')(
        ['apply', '-f', '-'],
        '{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"Workspace","metadata":{"name":"child"}}',
      )
      const url = (await workspace('target')).spec.URL ?? ''
      await root(['apply', '-f', '-'], remote(url, 'Ready', 'to-target'))
      for (const [name, type] of [
        ['plainly', undefined],
        ['link', 'Workspace'],
        ['moved', 'Redirect'],
      ] as const) {
        await root(['apply', '-f', '-'], mounted(name, 'to-target', type))
        await settled(name, 'Ready')
      }
      await eventually(
        () => client('/clusters/root:target:child/api'),
        ({ status }) => status === 200,
      )
    })

    for (const name of ['plainly', 'link'])
      it(`is the workspace itself (${name})`, async () => {
        const through = root.at(`/clusters/root:${name}`)
        await through(['create', 'configmap', name, '--from-literal=a=b'])
        const there = root.at('/clusters/root:target')
        assert.equal(await there(['get', 'configmap', name, '-o', 'jsonpath={.data.a}']), 'b')
        await through(['delete', 'configmap', name])
        assert.equal((await there.try(['get', 'configmap', name])).code, 1)
        assert.equal((await client(`/clusters/root:${name}:child/api`)).status, 200)
        assert.equal((await client(`/clusters/root:${name}:unknown/api`)).status, 404)
      })
    it('sends clients there', async () => {
      const reply = await client('/clusters/root:moved:child/api/v1/namespaces?limit=1')
      assert.equal(reply.status, 307)
      const { origin } = new URL((await workspace('target')).spec.URL ?? '')
      assert.equal(reply.headers.location, `${origin}/clusters/root:target:child/api/v1/namespaces?limit=1`)
      assert.match(await root.at('/clusters/root:moved')(['get', 'namespaces', '-o', 'name']), /default/)
    })
    it('gives nobody more rights than the target does', async () => {
      const stranger = await clientOf(userAt(oriel, oriel.url, 'stranger-token'))
      const path = '/api/v1/namespaces/default/configmaps'
      const [direct, through] = [
        await stranger(`/clusters/root:target${path}`),
        await stranger(`/clusters/root:link${path}`),
      ]
      assert.deepEqual([through.status, through.text], [direct.status, direct.text])
      stranger.close()
    })
    it('does not run in circles', async () => {
      const base = (await workspace('target')).spec.URL?.replace(/:target$/, '') ?? ''
      for (const [name, other] of [
        ['one', 'two'],
        ['two', 'one'],
      ] as const) {
        await root(['apply', '-f', '-'], remote(`${base}:${other}`, 'Ready', name))
        await root(['apply', '-f', '-'], mounted(name, name, 'Workspace'))
      }
      for (const name of ['one', 'two']) {
        const found = await eventually(
          () => workspace(name),
          each => condition(each)?.reason === 'MountLoop',
        )
        assert.equal(found.status.phase, 'Unavailable')
        assert.match(condition(found)?.message ?? '', /leads in a circle$/)
        assert.equal((await client(`/clusters/root:${name}/api`)).status, 503)
      }
      const target = (await workspace('target')).spec.URL ?? ''
      await root(['apply', '-f', '-'], remote(target, 'Ready', 'two'))
      await Promise.all([settled('one', 'Ready'), settled('two', 'Ready')])
      assert.equal((await client('/clusters/root:one/api')).status, 200)
    })
    it('says when nothing is where a link leads, and goes with what is', async () => {
      const base = (await workspace('target')).spec.URL?.replace(/:target$/, '') ?? ''
      await root(['apply', '-f', '-'], remote(`${base}:later`, 'Ready', 'early'))
      await root(['apply', '-f', '-'], mounted('early', 'early', 'Workspace'))
      const found = await settled('early', 'Unavailable')
      assert.deepEqual(
        [condition(found)?.reason, condition(found)?.message],
        ['MountTargetNotFound', `there is no workspace at ${base}:later`],
      )
      await createWorkspaces(oriel, ['later'])
      await settled('early', 'Ready')
      await root(['delete', 'workspace', 'later'])
      await settled('early', 'Unavailable')
    })
  })

  describe('that is deleted', () => {
    it('goes at once, and leaves its object alone', async () => {
      await root(['delete', 'workspace', 'remote-workspace'])
      assert.equal((await client('/clusters/root:remote-workspace/api')).status, 404)
      await root(['get', 'remotecluster', 'my-remote-k8s'])
    })
  })
})
