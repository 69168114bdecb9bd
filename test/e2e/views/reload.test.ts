import assert from 'node:assert/strict'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, clientOf } from '../../support/client.ts'
import { discard, eventually, type Oriel, run, startOriel } from '../../support/oriel.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { apply, createWorkspaces, type Tenant } from '../../support/tenants.ts'
import { configAt } from '../../support/watcher.ts'

/** A view of config maps, with a word that it takes from another file and from its options. */
const view = (shown: string): string => `
import type { ViewPlugin } from 'oriel/plugin'
import { word } from './word.ts'
const plugin: ViewPlugin = ({ allow, apiSetOf, defineVirtualWorkspace, loopback, viewOf }, { of }) =>
  defineVirtualWorkspace('words', '/services/words', ({ backend }) => {
    const configMaps = backend.apis('*')!.find('', 'v1', 'configmaps')!
    const storage = viewOf(configMaps.storage, () => ({
      present: object => ({ ...object, data: { said: ${shown} } }),
    }))
    const apis = apiSetOf([{ ...configMaps, storage, verbs: ['get', 'list', 'watch'] }])
    return { apis: () => apis, authorize: async () => allow('a test'), actAs: () => loopback }
  })
export default plugin
`
const other = (
  name: string,
): string => `export default ({ allow, apiSetOf, defineVirtualWorkspace, loopback }) =>
  defineVirtualWorkspace('${name}', '/services/${name}', ({ backend }) => {
    const apis = apiSetOf([backend.apis('*').find('', 'v1', 'configmaps')])
    return { apis: () => apis, authorize: async () => allow('a test'), actAs: () => loopback }
  })
`

describe('--watch', function () {
  this.timeout(120_000)
  let folder: string
  let oriel: Oriel
  let tenant: Tenant
  let client: Client
  const path = (of: string): string =>
    `/services/${of}/clusters/${tenant.cluster}/api/v1/namespaces/default/configmaps`
  const said = async (): Promise<string> => {
    const { status, text, json } = await client(`${path('words')}/a`)
    assert.equal(status, 200, text)
    return String((json().data as Record<string, unknown>).said)
  }
  const becomes = (word: string): Promise<string> => eventually(said, each => each === word)
  const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text)
  const prints = (text: RegExp): Promise<string> =>
    eventually(
      async () => oriel.output(),
      output => text.test(output),
    )

  before(async () => {
    folder = await temporaryDirectory('reload')
    await mkdir(join(folder, 'other'))
    await write('words.ts', view('word'))
    await write('word.ts', `export const word: string = 'one'`)
    await write('other/other.mjs', other('other'))
    await write('beside.mjs', other('beside'))
    await write(
      'views.yaml',
      'views:\n- view: ./words.ts\n  options: { of: settings }\n- view: ./other/other.mjs\n- view: ./beside.mjs\n',
    )
    oriel = await startOriel({
      args: ['--views', join(folder, 'views.yaml'), '--watch', '--store', 'memory:'],
    })
    ;[tenant] = (await createWorkspaces(oriel, ['one'])) as [Tenant]
    await apply(tenant.kubectl, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
    client = await clientOf(configAt(oriel, oriel.url))
  })
  after(() => discard(oriel))

  it('serves what is saved, also of an imported file', async () => {
    await becomes('one')
    await write('word.ts', `export const word: string = 'two'`)
    await becomes('two')
    await write('words.ts', view("of + ': ' + word"))
    await becomes('settings: two')
  })

  it('serves a file that replaces another one, as editors do', async () => {
    await write('word.ts.new', `export const word = 'three'`)
    await rename(join(folder, 'word.ts.new'), join(folder, 'word.ts'))
    await becomes('settings: three')
  })

  it('ends the watches of the view, and not those of others', async () => {
    const query = '?watch=1&fieldSelector=metadata.name%3Da'
    const own = await client.watch(path('words') + query)
    const others = await Promise.all(['other', 'beside'].map(each => client.watch(path(each) + query)))
    for (const watch of [own, ...others]) assert.equal((await watch.next())?.type, 'ADDED')
    await write('word.ts', `export const word = 'four'`)
    assert.equal(await own.next(), undefined)
    await becomes('settings: four')
    await tenant.kubectl(['label', 'configmap', 'a', 'changed=yes'])
    for (const watch of others) assert.equal((await watch.next())?.type, 'MODIFIED')
  })

  it('serves as before when an edit is broken, and prints file and line', async () => {
    await write('words.ts', view('word +'))
    await prints(/views of \S*words\.ts not reloaded, and served as before: [^"]*words\.ts:8:/)
    assert.equal(await said(), 'settings: four')
    await write('words.ts', view('word').replace('apis: () => apis', 'apiz: () => apis'))
    await prints(
      /served as before: [^"]*words\.ts:\d+:\d+: the view \\"words\\" has the unknown member \\"apiz\\"/,
    )
    assert.equal(await said(), 'settings: four')
    await write('words.ts', view('word').replace('/services/words', '/services/moved'))
    await prints(/the view \\"words\\" has another name or path: start the server again/)
    await write('words.ts', view('word'))
    await becomes('four')
  })

  it('serves what is saved after an edit that is never ready', async () => {
    const run = 'return { run: () => new Promise(() => undefined), apis: () => apis'
    await write('words.ts', view("'never'").replace('return { apis: () => apis', run))
    await prints(/"view":"words".*run\(\) has not called ready\(\) yet/)
    assert.equal(await said(), 'four')
    await write('words.ts', view("'better'"))
    await becomes('better')
  })
})

/** Two isolated views that answer with the version; in the version 'two', the second one is never ready. */
const isolated = (version: string, path = ''): string => `
export default f => ['quick', 'slow'].map(name => f.defineVirtualWorkspace(name, '/services/${path}' + name, () => ({
  apis: () => undefined,
  http: (_ctx, _request, response) => response.end('${version} ' + process.ppid),
  async run(ready, signal) {
    if (name === 'quick' || '${version}' !== 'two') ready()
    await new Promise(resolve => signal.addEventListener('abort', resolve))
  },
})))
`

describe('--watch of isolated views', function () {
  this.timeout(120_000)
  let folder: string
  let oriel: Oriel
  let client: Client
  const write = (text: string): Promise<void> => writeFile(join(folder, 'two.mjs'), text)
  const answer = async (of: string): Promise<readonly string[]> =>
    (await client(`/services/${of}/clusters/root/x`)).text.split(' ')
  const becomes = (of: string, version: string) =>
    eventually(
      () => answer(of),
      ([each]) => each === version,
    )
  /** How many processes the server has started, which are those of the views. */
  const processes = async (): Promise<number> => {
    const [, server] = await answer('slow')
    const { stdout } = await run('ps', ['-A', '-o', 'ppid='])
    return stdout.split('\n').filter(parent => parent.trim() === server).length
  }

  before(async () => {
    folder = await temporaryDirectory('reloadisolated')
    await write(isolated('one'))
    await writeFile(join(folder, 'views.yaml'), 'views: [{ view: ./two.mjs, isolate: true }]')
    oriel = await startOriel({
      args: ['--views', join(folder, 'views.yaml'), '--watch', '--store', 'memory:'],
    })
    client = await clientOf(configAt(oriel, oriel.url, 'shard-base'))
    for (const of of ['quick', 'slow']) await becomes(of, 'one')
  })
  after(() => discard(oriel))

  it('ends the process of views that are refused', async () => {
    await write(isolated('one', 'moved/'))
    await eventually(
      async () => oriel.output(),
      output => output.includes('another name or path: start the server again'),
    )
    await eventually(processes, count => count === 1)
  })

  it('replaces all views of a plugin at once, when all are ready', async () => {
    await write(isolated('two'))
    await eventually(processes, count => count === 2)
    await eventually(
      async () => oriel.output(),
      output =>
        output.includes('before they were ready') || /"view":"slow"[^\n]*not called ready/.test(output),
    )
    for (const of of ['quick', 'slow']) assert.equal((await answer(of))[0], 'one')
    await write(isolated('three'))
    for (const of of ['quick', 'slow']) await becomes(of, 'three')
    await eventually(processes, count => count === 1)
  })
})
