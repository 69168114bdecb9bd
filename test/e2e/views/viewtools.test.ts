import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import {
  compiled,
  discard,
  endOf,
  eventually,
  kubectlFor,
  type Oriel,
  run,
  startOriel,
} from '../../support/oriel.ts'
import { root } from '../../support/source.ts'
import { apply } from '../../support/tenants.ts'

const configMap = (text: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'motto', namespace: 'default', labels: { team: 'ops' } },
  data: { text },
})

describe('oriel views and oriel watch', function () {
  this.timeout(60_000)
  let oriel: Oriel
  let watching: ChildProcess | undefined
  const tool = (...args: readonly string[]) =>
    run(process.execPath, [compiled, ...args, '--kubeconfig', oriel.kubeconfig, '--context', 'shard-base'])
  before(async () => {
    oriel = await startOriel({ args: ['--view', join(root, 'dist/examples/views/team.js')] })
  })
  after(async () => {
    if (watching !== undefined) await endOf(watching, 'SIGTERM')
    await discard(oriel)
  })

  it('print what a view shows, and what changes', async () => {
    const path = '/services/team/ops/clusters/*/api/v1/configmaps'
    const args = [compiled, 'watch', path, '--kubeconfig', oriel.kubeconfig, '--context', 'shard-base']
    watching = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let printed = ''
    for (const stream of [watching.stdout, watching.stderr]) stream?.on('data', chunk => (printed += chunk))
    const kubectl = kubectlFor(oriel, 'root')
    const prints = (text: string) =>
      eventually(
        async () => printed,
        all => all.includes(text),
      )
    await apply(kubectl, configMap('onward'))
    await prints('+ root default/motto\n')
    await apply(kubectl, configMap('upward'))
    await prints('~ root default/motto\n')
    await prints('    data.text: "onward" → "upward"\n')
    await kubectl(['delete', 'configmap', 'motto'])
    await prints('- root default/motto\n')
    const lines = printed
      .trim()
      .split('\n')
      .filter(line => !line.includes('last-applied'))
    assert.deepEqual(lines, [
      '+ root default/motto',
      '~ root default/motto',
      '    data.text: "onward" → "upward"',
      '- root default/motto',
    ])
  })

  it('print the views with their requests', async () => {
    const { code, stdout, stderr } = await tool('views', '--output', 'json')
    assert.equal(code, 0, stderr)
    const views = JSON.parse(stdout) as readonly Record<string, unknown>[]
    const team = views.find(({ view }) => view === 'team')
    assert.deepEqual([team?.path, team?.notReady, team?.watches], ['/services/team/:team', '', 1])
    // The first object may have been listed before the watch began.
    assert.ok(Number(team?.requests) >= 1 && Number(team?.events) >= 2 && Number(team?.bytes) > 100, stdout)
    assert.ok(
      views.some(({ view }) => view === 'apiexport'),
      stdout,
    )
    const table = await tool('views')
    assert.match(table.stdout, /^VIEW +PATH +READY .*\n(.*\n)*team +\/services\/team\/:team +yes +\d+ /)
  })

  it('end with one sentence when the server refuses', async () => {
    const views = await run(process.execPath, [compiled, 'views', '--kubeconfig', '/nowhere'])
    assert.deepEqual([views.code, views.stderr.trim().split('\n').length], [1, 1], views.stderr)
    const watch = await tool('watch', '/services/none/clusters/root/api/v1/configmaps')
    assert.equal(watch.code, 1)
    assert.match(watch.stderr, /^oriel: Listing https:\S+ failed: .*\.\n$/)
    const bad = await tool('watch', 'ftp://x')
    assert.match(bad.stderr, /^oriel: "ftp:\/\/x" is not a URL: give one such as /)
  })
})
