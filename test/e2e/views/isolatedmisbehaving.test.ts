import assert from 'node:assert/strict'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { constantFrom, sample, tuple } from 'fast-check'
import type { KubeObject } from '../../../framework/index.ts'
import { members, misbehaviors } from '../../../framework/plugins/testing/misbehaving.ts'
import { type Client, clientOf } from '../../support/client.ts'
import { compiled, discard, eventually, type Oriel, run, startOriel } from '../../support/oriel.ts'
import { root } from '../../support/source.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply, createWorkspaces, type Tenant } from '../../support/tenants.ts'
import { configAt } from '../../support/watcher.ts'

/** One plugin with a view for each pair of a member and what it does instead of its work. */
const moduleOf = (pairs: readonly (readonly [string, string])[]): string => `
import { misbehaving } from ${JSON.stringify(join(root, 'dist/framework/plugins/testing/misbehaving.js'))}
const pairs = ${JSON.stringify(pairs)}
const ref = { group: '', version: 'v1', resource: 'configmaps' }
export default ({ allow, apiSetOf, defineVirtualWorkspace, viewOf }) => {
  const resourceOf = ({ backend }) => backend.apis('*').find('', 'v1', 'configmaps')
  const used = { apiSetOf, viewOf, ref, resourceOf }
  return pairs.map(([member, misbehavior], i) =>
    defineVirtualWorkspace('sick-' + i, '/services/sick-' + i, host => ({
      authorize: async () => allow('a test'),
      ...misbehaving(member, misbehavior, used)(host),
    })),
  )
}
`

const configMap = (name: string, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', ...more },
})
const hidden = configMap('secret', { labels: { hidden: 'yes' }, annotations: { word: 'sesame' } })
const json = { 'content-type': 'application/json' }
const merge = { 'content-type': 'application/merge-patch+json' }
const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }

const requests = [
  { below: '' },
  { below: '', headers: asTable },
  { below: '?labelSelector=hidden%3Dyes' },
  { below: '/shown' },
  { below: '/secret' },
  { below: '?watch=true&timeoutSeconds=1' },
  { below: '', method: 'POST', headers: json, body: configMap('written') },
  { below: '/secret', method: 'PATCH', headers: merge, body: '{}' },
  { below: '/secret', method: 'DELETE' },
  { below: '/written', method: 'DELETE' },
]

describe('isolated plugins that misbehave', function () {
  this.timeout(120_000)
  const runs = Number(process.env.PLUGIN_RUNS ?? 30)
  // A lens without members shows everything: that is right.
  const pairs = sample(
    tuple(constantFrom(...members), constantFrom(...Object.keys(misbehaviors))),
    runs,
  ).filter(([member, misbehavior]) => member !== 'lens.view' || misbehavior !== 'returns an empty object')
  let oriel: Oriel
  let tenant: Tenant
  let boss: Client

  before(async () => {
    const folder = await temporaryDirectory('misbehaving')
    await writeFile(join(folder, 'sick.mjs'), moduleOf(pairs))
    await writeFile(join(folder, 'views.yaml'), 'views: [{ view: ./sick.mjs, isolate: true }]')
    oriel = await startOriel({ args: ['--views', join(folder, 'views.yaml'), '--store', 'memory:'] })
    ;[tenant] = (await createWorkspaces(oriel, ['one'])) as [Tenant]
    boss = await clientOf(configAt(oriel, oriel.url, 'shard-base'))
    await apply(tenant.kubectl, configMap('shown'))
    await apply(tenant.kubectl, hidden)
  })
  after(() => discard(oriel))

  const stored = async () => {
    const { json: body } = await boss(`/clusters/${tenant.cluster}/api/v1/namespaces/default/configmaps`)
    return (body().items ?? []).filter(({ metadata }) => metadata.name !== 'written')
  }

  it('change nothing that is stored, show nothing that is hidden, and stop nothing else', async () => {
    const before = await stored()
    assert.equal(before.length, 3)
    for (const [i, [member, misbehavior]] of pairs.entries())
      for (const { below, ...sent } of sample(constantFrom(...requests), 3)) {
        const what = `${member} ${misbehavior}: ${sent.method ?? 'GET'} ${below}`
        const path = `/services/sick-${i}/clusters/${tenant.cluster}/api/v1/namespaces/default/configmaps`
        const { status, text } = await boss(
          `${path}${below}${below.includes('?') ? '&' : '?'}timeout=2s`,
          sent,
        )
        assert.ok(status >= 200 && status < 600, what)
        assert.ok(!text.includes('sesame') || text.includes('sesame?'), `${what} shows ${text}`)
        assert.deepEqual(await stored(), before, what)
      }
    assert.equal((await boss('/readyz')).status, 200)
  })

  it('have sockets that no other user can open', async () => {
    const folders = (await readdir(tmpdir())).filter(name => name.startsWith('oriel-views-'))
    assert.notEqual(folders.length, 0)
    for (const name of folders) {
      const found = await stat(join(tmpdir(), name)).catch(() => undefined)
      if (found !== undefined) assert.equal(found.mode & 0o077, 0, name)
    }
  })
})

describe('a mistake in an isolated plugin', function () {
  this.timeout(60_000)

  it('ends the start with one sentence that has file and line', async () => {
    const folder = await temporaryDirectory('mistaken')
    await writeFile(
      join(folder, 'bad.mjs'),
      '\nexport default f => f.defineVirtualWorkspace("bad", "/services/bad", () => ({}))',
    )
    await writeFile(join(folder, 'views.yaml'), 'views: [{ view: ./bad.mjs, isolate: true }]')
    const args = [
      'start',
      '--data-directory',
      join(folder, 'data'),
      '--port',
      '0',
      '--views',
      join(folder, 'views.yaml'),
    ]
    const { code, stderr } = await run(process.execPath, [compiled, ...args])
    assert.equal(code, 1)
    assert.match(stderr, /^oriel: .*bad\.mjs:2:\d+: .*apis.*\.$/m)
  })

  it('keeps the last version serving, when its file is saved', async () => {
    const folder = await temporaryDirectory('reloaded')
    const file = join(folder, 'text.mjs')
    const module = (
      text: string,
    ) => `export default f => f.defineVirtualWorkspace('text', '/services/text', () => ({
      apis: () => undefined,
      http: (_ctx, _request, response) => response.end(${text}),
    }))`
    await writeFile(file, module('"one"'))
    await writeFile(join(folder, 'views.yaml'), 'views: [{ view: ./text.mjs, isolate: true }]')
    const oriel = await startOriel({
      args: ['--views', join(folder, 'views.yaml'), '--watch', '--store', 'memory:'],
    })
    const boss = await clientOf(configAt(oriel, oriel.url, 'shard-base'))
    const answers = (wanted: string) =>
      eventually(
        () => boss('/services/text/clusters/root/x'),
        ({ text }) => text === wanted,
      )
    await answers('one')
    await writeFile(file, module('"two"'))
    await answers('two')
    await writeFile(file, module('"three'))
    await eventually(
      async () => oriel.output(),
      text => text.includes('not reloaded, and served as before'),
    )
    await answers('two')
    await discard(oriel)
  })
})
