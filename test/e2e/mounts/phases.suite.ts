import assert from 'node:assert/strict'
import { clientOf } from '../../support/client.ts'
import { eventually } from '../../support/oriel.ts'
import { remoteClusters } from '../../support/servers/remoteclusters.ts'
import { apply, createWorkspaces } from '../../support/tenants.ts'
import { userAt } from '../../support/watcher.ts'
import { condition, type Mounts, mounted, remote, settled, workspace } from './scene.ts'

export const ofAnything = (scene: Mounts): void => {
  it('is for users with access to its parent', async () => {
    const [org] = await createWorkspaces(scene.oriel, ['org'])
    assert.ok(org)
    await apply(org.kubectl, remoteClusters)
    await org.kubectl(['wait', '--for=condition=Established', 'crd/remoteclusters.example.io'])
    await org.kubectl(['apply', '-f', '-'], remote(scene.service.url))
    await org.kubectl(['apply', '-f', '-'], mounted('inner'))
    await org.kubectl(['wait', '--for=condition=WorkspaceMountReady', 'workspace/inner'])
    const path = '/clusters/root:org:inner/api/v1/namespaces'
    assert.equal((await scene.client(path)).status, 200)
    for (const token of ['stranger-token', undefined]) {
      const other = await clientOf(userAt(scene.oriel, scene.oriel.url, token))
      const refused = await other(path)
      assert.equal(refused.status, 403)
      assert.doesNotMatch(refused.text, /127\.0\.0\.1/)
      other.close()
    }
  })

  it('has no children', async () => {
    assert.equal((await scene.client('/clusters/root:remote-workspace:child/api')).status, 404)
  })

  it('follows the phase of its object, and ends watches cleanly', async () => {
    const path = '/clusters/root:remote-workspace/api/v1/namespaces/default/configmaps'
    const watch = await scene.client.watch(`${path}?watch=true&resourceVersion=0`)
    await watch.next()
    await scene.root(['apply', '-f', '-'], remote(scene.service.url, 'Connecting'))
    const found = await settled(scene, 'remote-workspace', 'Unavailable')
    assert.deepEqual(
      [condition(found)?.reason, condition(found)?.message],
      [
        'MountObjectNotReady',
        'Mount is not reporting ready. See RemoteCluster "my-remote-k8s" status for more details: its phase is "Connecting"',
      ],
    )
    for (let event = await watch.next(); event !== undefined; ) event = await watch.next()
    const text = await scene.client(path, { headers: { accept: 'text/plain' } })
    assert.deepEqual([text.status, text.text], [503, 'Not available.'])
    const status = await scene.client(path, { headers: { accept: 'application/json' } })
    const why = /Not available since [\dTZ:-]+: Mount is not .* "my-remote-k8s" .*: its phase is "Connecting"/
    assert.match(status.json().message ?? '', why)
    assert.equal(status.headers['retry-after'], undefined, 'kubectl tries again for half a minute')
    const seen = await scene.root.at('/clusters/root:remote-workspace').try(['get', 'configmaps'])
    assert.match(seen.stderr.replaceAll('\\"', '"'), why)
    const stranger = await clientOf(userAt(scene.oriel, scene.oriel.url, 'stranger-token'))
    assert.match((await stranger(path)).text, /Not available\./)
    stranger.close()
    await scene.root(['apply', '-f', '-'], remote(scene.service.url))
    await settled(scene, 'remote-workspace', 'Ready')
    assert.equal((await scene.client(path)).status, 200)
  })

  it('reports a missing object, and is Ready when it is back', async () => {
    await scene.root(['delete', 'remotecluster', 'my-remote-k8s'])
    const found = await settled(scene, 'remote-workspace', 'Unavailable')
    assert.deepEqual(
      [condition(found)?.reason, condition(found)?.message],
      ['MountObjectNotFound', 'RemoteCluster "/my-remote-k8s" not found'],
    )
    await scene.root(['apply', '-f', '-'], remote(scene.service.url))
    await settled(scene, 'remote-workspace', 'Ready')
  })

  it('waits for a kind that is not served yet', async () => {
    const later = { ...remoteClusters, metadata: { name: 'latecomers.example.io' } }
    const names = { plural: 'latecomers', singular: 'latecomer', kind: 'Latecomer' }
    await scene.root(['apply', '-f', '-'], mounted('late').replace('kind: RemoteCluster', 'kind: Latecomer'))
    const found = await settled(scene, 'late', 'Unavailable')
    assert.equal(
      condition(found)?.message,
      'no matches for kind "Latecomer" in version "example.io/v1alpha1"',
    )
    await apply(scene.root, { ...later, spec: { ...later.spec, names } })
    await scene.root(['wait', '--for=condition=Established', 'crd/latecomers.example.io'])
    await scene.root(
      ['apply', '-f', '-'],
      remote(scene.service.url).replace('kind: RemoteCluster', 'kind: Latecomer'),
    )
    await settled(scene, 'late', 'Ready')
  })

  it('never changes its target by itself', async () => {
    const patch = (text: string) =>
      scene.root.try(['patch', 'workspace', 'remote-workspace', '--type=merge', '-p', text])
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
      const { code, stderr } = await scene.root.try(['create', '-f', '-'], manifest)
      assert.equal(code, 1)
      assert.match(stderr, message)
    }
  })

  for (const [what, url, status, message] of [
    ['a URL that is not absolute', '/clusters/root', 0, /is not an absolute URL/],
    ['credentials in the URL', 'https://a:b@example.com', 0, /without credentials/],
    [
      'http',
      'http://127.0.0.1:1',
      0,
      /^The URL of RemoteCluster "bad" is refused: its scheme is not https: --mount-allow-http of oriel start allows http$/,
    ],
    [
      'a private address',
      'https://10.0.0.1',
      0,
      /its host 10.0.0.1 has no public address: --mount-allow 10.0.0.1 of oriel start allows it$/,
    ],
    ['nobody at the address', 'https://127.0.0.1:1', 502, /connection refused/],
  ] as const)
    it(`reports ${what}`, async () => {
      await scene.root(['apply', '-f', '-'], remote(url, 'Ready', 'bad'))
      await scene.root(['apply', '-f', '-'], mounted('bad', 'bad'))
      if (status === 0) {
        const found = await eventually(
          () => workspace(scene, 'bad'),
          each => message.test(condition(each)?.message ?? ''),
        )
        assert.equal(found.status.phase, 'Unavailable')
        assert.equal((await scene.client('/clusters/root:bad/api')).status, 503)
      } else {
        await eventually(
          () => workspace(scene, 'bad'),
          found => found.spec.URL === url && found.status.phase === 'Ready',
        )
        const reply = await scene.client('/clusters/root:bad/api', {
          headers: { accept: 'application/json' },
        })
        assert.equal(reply.status, status)
        assert.match(reply.json().message ?? '', message)
      }
      await scene.root(['delete', 'workspace/bad', 'remotecluster/bad'])
    })
}

export const thatGoes = (scene: Mounts): void => {
  describe('that is deleted', () => {
    it('is deleted at once, and its object is kept', async () => {
      await scene.root(['delete', 'workspace', 'remote-workspace'])
      assert.equal((await scene.client('/clusters/root:remote-workspace/api')).status, 404)
      await scene.root(['get', 'remotecluster', 'my-remote-k8s'])
    })
  })
}
