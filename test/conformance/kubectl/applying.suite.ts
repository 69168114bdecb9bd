import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KubeObject } from '../../../framework/index.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply } from '../../support/tenants.ts'
import { configMap, group, having, type Place, texts, widget } from './scene.ts'

/** kubectl apply on either side, its pruning and its diff (rules.md 10.11 to 10.14). */
export function applyingCases({ kubectl, name, color }: Place): void {
  it('diff', async () => {
    await apply(kubectl, widget(name('diff'), { color: 'red' }))
    const diff = (fields: object, ...args: readonly string[]) =>
      kubectl.try(['diff', ...args, '-f', '-'], texts(widget(name('diff'), fields)))
    assert.equal((await diff({ color: 'red' })).code, 0)
    const { code, stdout } = await diff({ color: 'blue' })
    assert.equal(code, 1)
    assert.match(stdout, /^- {2}color: red\n\+ {2}color: blue$/m)
    assert.match(
      (await diff({ color: 'blue' }, '--server-side', '--force-conflicts')).stdout,
      /^\+ {2}color: blue$/m,
    )
    assert.equal(await color('diff'), 'red')
  })

  it('apply, twice and with what is left out', async () => {
    const applied = (fields: object) => apply(kubectl, widget(name('apply'), fields))
    assert.match(await applied({ color: 'red', size: 1 }), / created\n$/)
    assert.match(await applied({ color: 'red', size: 1 }), / unchanged\n$/)
    assert.match(await applied({ color: 'blue' }), / configured\n$/)
    const { spec } = await kubectl.json<KubeObject>(['get', 'widget', name('apply')])
    assert.deepEqual(spec, { color: 'blue' })
  })

  it('apply --server-side, and --force-conflicts', async () => {
    const applied = (manager: string, value: string, ...args: readonly string[]) =>
      kubectl.try(
        ['apply', '--server-side', `--field-manager=${manager}`, ...args, '-f', '-'],
        texts(widget(name('owned'), { color: value })),
      )
    assert.match((await applied('one', 'red')).stdout, / serverside-applied\n$/)
    const refused = await applied('two', 'blue')
    assert.match(refused.stderr, /^error: Apply failed with 1 conflict: conflict with "one": \.spec\.color$/m)
    assert.equal((await applied('two', 'blue', '--force-conflicts')).code, 0)
    assert.equal(await color('owned'), 'blue')
  })

  it('apply --server-side after client-side apply', async () => {
    await apply(kubectl, widget(name('moved'), { color: 'red', size: 1 }))
    const next = texts(widget(name('moved'), { color: 'blue' }))
    await kubectl(['apply', '--server-side', '-f', '-'], next)
    const { spec, metadata } = await kubectl.json<KubeObject>([
      'get',
      'widget',
      name('moved'),
      '--show-managed-fields',
    ])
    assert.deepEqual(spec, { color: 'blue' })
    const managers = metadata.managedFields as unknown as { manager: string; operation: string }[]
    assert.deepEqual(managers.map(({ manager, operation }) => `${manager} ${operation}`).sort(), [
      'kubectl Apply',
      'kubectl-last-applied Apply',
    ])
  })

  it('apply view-last-applied, set-last-applied and edit-last-applied', async () => {
    await apply(kubectl, widget(name('last'), { color: 'red' }))
    const last = () => kubectl(['apply', 'view-last-applied', 'widget', name('last')])
    assert.match(await last(), /^spec:\n {2}color: red$/m)
    await kubectl(['apply', 'set-last-applied', '-f', '-'], texts(widget(name('last'), { color: 'blue' })))
    assert.match(await last(), /^spec:\n {2}color: blue$/m)
    await having('KUBE_EDITOR', 'sed -i s/blue/red/', () =>
      kubectl(['apply', 'edit-last-applied', 'widget', name('last')]),
    )
    assert.match(await last(), /^spec:\n {2}color: red$/m)
    assert.equal(await color('last'), 'red')
  })

  it('apply --prune', async () => {
    const label = name('pruned')
    const objects = (...of: readonly string[]) =>
      texts(...of.map(each => configMap(name(each), { labels: { set: label } })))
    const applied = (...of: readonly string[]) =>
      kubectl(
        ['apply', '--prune', '-l', `set=${label}`, '--prune-allowlist=core/v1/ConfigMap', '-f', '-'],
        objects(...of),
      )
    await applied('one', 'two')
    assert.equal(
      await applied('two'),
      `configmap/${name('two')} unchanged\nconfigmap/${name('one')} pruned\n`,
    )
    const left = await kubectl(['get', 'configmaps', '-l', `set=${label}`, '-o', 'name'])
    assert.equal(left, `configmap/${name('two')}\n`)
  })

  it('apply --prune --applyset', async () => {
    const set = name('set')
    const applied = (...objects: readonly KubeObject[]) =>
      having('KUBECTL_APPLYSET', 'true', () =>
        kubectl(
          ['apply', '--prune', `--applyset=configmap/${set}`, '-n', 'default', '-f', '-'],
          texts(...objects),
        ),
      )
    await applied(widget(name('in-a'), { color: 'red' }), configMap(name('in-b')))
    const said = await applied(configMap(name('in-b')))
    assert.match(said, new RegExp(`^widget.${group}/${name('in-a')} pruned$`, 'm'))
    assert.match((await kubectl.try(['get', 'widget', name('in-a')])).stderr, /not found/)
    await kubectl(['get', 'configmap', name('in-b')])
  })

  it('apply -k', async () => {
    const directory = await temporaryDirectory('kustomize')
    await writeFile(join(directory, 'widget.json'), texts(widget('built', { color: 'red' })))
    const kustomization = {
      resources: ['widget.json'],
      nameSuffix: name(''),
      labels: [{ pairs: { built: 'yes' } }],
    }
    await writeFile(join(directory, 'kustomization.yaml'), JSON.stringify(kustomization))
    assert.match(await kubectl(['apply', '-k', directory]), / created$/m)
    assert.equal((await kubectl.try(['diff', '-k', directory])).code, 0)
    const { metadata } = await kubectl.json<KubeObject>(['get', 'widget', name('built')])
    assert.equal(metadata.labels?.built, 'yes')
    await kubectl(['delete', '-k', directory])
  })
}
