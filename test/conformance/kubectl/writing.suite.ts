import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import type { KubeObject } from '../../../framework/index.ts'
import { apply } from '../../support/tenants.ts'
import { configMap, group, having, type Place, texts, widget } from './scene.ts'

/** kubectl's commands that write (rules.md 10.10 and 10.15 to 10.23). */
export function writingCases(place: Place): void {
  const { kubectl, name, color } = place

  it('create, and create --dry-run=server', async () => {
    const made = texts(widget(name('created'), { color: 'red' }))
    const said = await kubectl(['create', '--dry-run=server', '-f', '-'], made)
    assert.equal(said, `widget.${group}/${name('created')} created (server dry run)\n`)
    assert.match((await kubectl.try(['get', 'wd', name('created')])).stderr, /not found/)
    await kubectl(['create', '-f', '-'], made)
    const again = await kubectl.try(['create', '-f', '-'], made)
    assert.match(again.stderr, /^Error from server \(AlreadyExists\): .* already exists$/m)
    const wrong = await kubectl.try(['create', '-f', '-'], texts(widget(name('wrong'), { color: 'mauve' })))
    assert.match(
      wrong.stderr,
      /^The Widget "wrong-\w+" is invalid: spec\.color: Unsupported value: "mauve": supported values: "red", "blue"$/m,
    )
    const odd = texts(widget(name('odd'), { shape: 'round' }))
    assert.match(
      (await kubectl.try(['create', '-f', '-'], odd)).stderr,
      /strict decoding error: unknown field "spec\.shape"/,
    )
    assert.match(await kubectl(['create', 'configmap', name('made'), '--from-literal=a=1']), /created$/m)
  })

  it('edit', async () => {
    await apply(kubectl, widget(name('edit'), { color: 'red' }))
    const edit = (substitution: string) =>
      having('KUBE_EDITOR', `sed -i ${substitution}`, () => kubectl.try(['edit', 'widget', name('edit')]))
    const { stdout } = await edit('s/red/blue/')
    assert.equal(stdout, `widget.${group}/${name('edit')} edited\n`)
    assert.equal(await color('edit'), 'blue')
    const refused = await edit('s/blue/mauve/')
    assert.match(refused.stderr, /^error: widgets.kubectl.example.com "edit-[a-z-]+" is invalid$/m)
    await rm(/stored to "([^"]+)"/.exec(refused.stderr)?.[1] ?? '', { force: true })
  })

  it('patch, of every type', async () => {
    await apply(kubectl, widget(name('patch'), { color: 'red' }), configMap(name('patch')))
    const patch = (resource: string, type: string, body: object) =>
      kubectl.try(['patch', resource, name('patch'), `--type=${type}`, '-p', JSON.stringify(body)])
    await patch('widget', 'merge', { spec: { color: 'blue', size: 1 } })
    await patch('widget', 'json', [{ op: 'replace', path: '/spec/size', value: 2 }])
    const { spec } = await kubectl.json<KubeObject>(['get', 'widget', name('patch')])
    assert.deepEqual(spec, { color: 'blue', size: 2 })
    const strategic = await patch('widget', 'strategic', { spec: { size: 3 } })
    assert.match(strategic.stderr, /^error: application\/strategic-merge-patch\+json is not supported by /m)
    assert.equal((await patch('configmap', 'strategic', { data: { a: null, b: '2' } })).code, 0)
    const { data } = await kubectl.json<KubeObject>(['get', 'configmap', name('patch')])
    assert.deepEqual(data, { b: '2' })
    const same = await patch('configmap', 'merge', { data: { b: '2' } })
    assert.match(same.stdout, /patched \(no change\)$/m)
  })

  it('label and annotate', async () => {
    await apply(kubectl, widget(name('label'), { color: 'red' }))
    for (const verb of ['label', 'annotate']) {
      const put = (...args: readonly string[]) => kubectl.try([verb, 'widget', name('label'), ...args])
      await put('team=one')
      const taken = await put('team=two')
      assert.match(taken.stderr, /--overwrite is false/)
      assert.equal((await put('team=two', '--overwrite')).code, 0)
      assert.match((await put('--list')).stdout, /^team=two$/m)
      assert.equal((await put('team-')).code, 0)
      assert.doesNotMatch((await put('--list')).stdout, /^team=/m)
    }
  })

  it('replace, and replace --force', async () => {
    await apply(kubectl, widget(name('replace'), { color: 'red' }))
    const uid = () => kubectl(['get', 'wd', name('replace'), '-o', 'jsonpath={.metadata.uid}'])
    const before = await uid()
    const next = texts(widget(name('replace'), { color: 'blue' }))
    assert.match(await kubectl(['replace', '-f', '-'], next), /replaced$/m)
    assert.deepEqual([await uid(), await color('replace')], [before, 'blue'])
    const said = await kubectl(['replace', '--force', '-f', '-'], next)
    assert.match(said, /deleted[\s\S]*replaced/)
    assert.notEqual(await uid(), before)
    const nobody = await kubectl.try(['replace', '-f', '-'], texts(widget(name('nobody'), {})))
    assert.match(nobody.stderr, /^Error from server \(NotFound\)/m)
  })

  it('scale', async () => {
    await apply(kubectl, widget(name('scale'), { replicas: 1 }))
    const scale = (...args: readonly string[]) => kubectl.try(['scale', `widget/${name('scale')}`, ...args])
    const { stdout, stderr } = await scale('--replicas=3')
    assert.match(stdout + stderr, /scaled$/m)
    const wrong = await scale('--replicas=5', '--current-replicas=1')
    assert.match(wrong.stderr, /Expected replicas to be 1, was 3/)
    const replicas = () => kubectl(['get', 'widget', name('scale'), '-o', 'jsonpath={.spec.replicas}'])
    assert.equal(await replicas(), '3')
  })

  describe('delete', () => deletionCases(place))
}

function deletionCases({ kubectl, name }: Place): void {
  const owned = async (policy: string): Promise<string> => {
    const owner = name(`owner-${policy}`)
    await apply(kubectl, configMap(owner))
    const { metadata } = await kubectl.json<KubeObject>(['get', 'configmap', owner])
    const reference = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: owner,
      uid: metadata.uid,
      blockOwnerDeletion: true,
    }
    await apply(kubectl, configMap(name(`dependent-${policy}`), { ownerReferences: [reference] }))
    return owner
  }

  for (const policy of ['foreground', 'background'])
    it(`--cascade=${policy}`, async () => {
      const owner = await owned(policy)
      await kubectl(['delete', 'configmap', owner, `--cascade=${policy}`, '--timeout=60s'])
      await kubectl(['wait', '--for=delete', '--timeout=60s', `configmap/${name(`dependent-${policy}`)}`])
    })

  it('--cascade=orphan', async () => {
    const owner = await owned('orphan')
    await kubectl(['delete', 'configmap', owner, '--cascade=orphan', '--timeout=60s'])
    const { metadata } = await kubectl.json<KubeObject>(['get', 'configmap', name('dependent-orphan')])
    assert.equal(metadata.ownerReferences, undefined)
  })

  it('by labels, by file, and of missing objects', async () => {
    const labels = { gone: name('soon') }
    const all = ['x', 'y'].map(each => widget(name(each), {}, { labels }))
    await apply(kubectl, ...all)
    const gone = await kubectl(['delete', 'widgets', '-l', `gone=${name('soon')}`])
    assert.equal(gone.match(/ deleted/g)?.length, 2)
    const again = await kubectl.try(['delete', '-f', '-'], texts(...all))
    assert.equal(again.stderr.match(/\(NotFound\)/g)?.length, 2)
    assert.equal(await kubectl(['delete', '--ignore-not-found', '-f', '-'], texts(...all)), '')
  })
}
