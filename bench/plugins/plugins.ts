import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Lens, ResourceStorage } from '../../framework/index.ts'
import { copyJson } from '../../framework/lens/privatecopy.ts'
import type { ViewPlugin } from '../../framework/plugin.ts'
import { discard, startOriel } from '../../test/support/oriel.ts'
import { type Installation, startInstallation } from '../../testing/index.ts'
import type { Benchmark, Row } from '../tools/result.ts'
import { alternate, median } from '../tools/statistics.ts'
import { isolation } from './isolation.ts'

const objects = Number(process.env.PLUGIN_OBJECTS ?? 2000)
const rounds = 7
const gets = Math.ceil(objects * 0.15)
const copies = 20_000

/** Lenses that do one thing to each object. */
const lenses: Readonly<Record<string, Lens>> = {
  'narrow by a label': { narrow: query => query },
  'filter by metadata': { matches: ({ labels }) => labels.app === 'bench' },
  relabel: { relabel: ({ labels }) => ({ labels: { ...labels, seen: 'yes' } }) },
  'filter by content': { matchesObject: ({ kind }) => kind === 'ConfigMap' },
  rewrite: { present: object => ({ ...object, data: { text: 'hidden' } }) },
}
const names = [...Object.keys(lenses), 'rename', 'join']

const views: ViewPlugin = ({
  allow,
  apiSetOf,
  defineVirtualWorkspace,
  loopback,
  prefixed,
  renamed,
  viewOf,
  joined,
}) =>
  ['none', ...names].map((lens, i) =>
    defineVirtualWorkspace(`view-${i}`, `/services/view-${i}`, ({ backend, informers }) => {
      const found = backend.apis('*')?.find('', 'v1', 'configmaps')
      if (found === undefined) throw new Error('there are no config maps')
      const short = { names: prefixed('map-') }
      const core = (resource: string) => informers.for({ group: '', version: 'v1', resource })
      const others: Readonly<Record<string, () => ResourceStorage>> = {
        rename: () => renamed(found.storage, () => short),
        join: () =>
          joined(found.storage, {
            objects: core('configmaps'),
            joined: core('namespaces'),
            key: ({ key }) => ({ namespace: '', name: key.namespace }),
            annotations: { 'example.com/namespace': namespace => namespace?.meta.uid },
          }),
      }
      const through = others[lens] ?? (() => viewOf(found.storage, () => lenses[lens] ?? {}))
      const storage = i === 0 ? found.storage : through()
      const apis = apiSetOf([{ ...found, storage }])
      return { apis: () => apis, authorize: async () => allow('a benchmark'), actAs: () => loopback }
    }),
  )

const configMap = (i: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `map-${i}`, labels: { app: 'bench' } },
  data: { text: 'x'.repeat(800) },
})

const maps = '/clusters/one/api/v1/namespaces/default/configmaps'
const pathOf = (view: number): string => `/services/view-${view}${maps}`

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

/** Reads a response without parsing it. */
type Reader = (path: string) => Promise<unknown>

const readerOf = (url: string): Reader => {
  const user = JSON.stringify({ name: 'bench', groups: ['system:masters', 'system:authenticated'] })
  const headers = { authorization: `Bearer ${Buffer.from(user).toString('base64url')}` }
  return async path => {
    const response = await fetch(url + path, { headers })
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.arrayBuffer()
  }
}

async function lists(read: Reader): Promise<readonly Row[]> {
  const paths = {
    plain: maps,
    none: pathOf(0),
    ...Object.fromEntries(names.map((name, i) => [name, pathOf(i + 1)])),
  }
  const measures = Object.fromEntries(
    Object.entries(paths).map(([name, path]) => [name, () => timed(() => read(path))]),
  )
  const taken = await alternate(rounds, measures)
  const row = (name: string, what: string): Row => ({
    id: `plugins-list-${name.replaceAll(' ', '-')}`,
    measure: `LIST of ${objects} objects through a plugin: ${name}`,
    value: taken[name] ?? Number.NaN,
    unit: 'ms',
    against: { what, value: taken[what] ?? Number.NaN },
  })
  return [row('none', 'plain'), ...names.map(name => row(name, 'none'))]
}

async function points(read: Reader): Promise<Row> {
  const get = (path: string) => () =>
    timed(async () => {
      for (let i = 0; i < gets; i++) await read(`${path}/map-1`)
    })
  const { plain, plugin } = await alternate(rounds, { plain: get(maps), plugin: get(pathOf(0)) })
  const against = { what: 'without a plugin', value: plain / gets }
  return { id: 'plugins-get', measure: 'GET through a plugin', value: plugin / gets, unit: 'ms', against }
}

/** An object and all that it contains cannot be changed any more. */
function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}

/** What the protection of an object costs that a lens gets: the private copy that lenses have, and freezing. */
async function protections(): Promise<readonly Row[]> {
  const text = JSON.stringify(configMap(1))
  const decoding = (protect: (object: object) => unknown) => () =>
    timed(async () => {
      for (let i = 0; i < copies; i++) protect(JSON.parse(text))
    })
  const taken = await alternate(rounds, {
    nothing: decoding(() => undefined),
    copy: decoding(copyJson),
    freeze: decoding(freeze),
  })
  const row = (name: 'copy' | 'freeze', measure: string): Row => ({
    id: `plugins-${name}`,
    measure,
    value: (taken[name] * 1000) / copies,
    unit: 'µs',
    against: { what: 'decoding only', value: (taken.nothing * 1000) / copies },
  })
  return [
    row('copy', 'decoding an object and copying it'),
    row('freeze', 'decoding an object and freezing it'),
  ]
}

async function starts(): Promise<Row> {
  const times: number[] = []
  for (let i = 0; i < rounds; i++) {
    let oriel: Installation | undefined
    times.push(
      await timed(async () => {
        oriel = await startInstallation({ plugins: [views] })
      }),
    )
    await oriel?.close()
  }
  return {
    id: 'plugins-test-start',
    measure: 'start of an installation for tests',
    value: median(times),
    unit: 'ms',
  }
}

const edited = (reason: string): string => `export default ({ deny, defineVirtualWorkspace }) =>
  defineVirtualWorkspace('edited', '/services/edited', () => ({
    apis: () => undefined,
    authorize: async () => deny('${reason}'),
  }))`

/** The time from a save to the first response of the edited view. */
async function edits(): Promise<Row> {
  const folder = await mkdtemp(join(tmpdir(), 'oriel-edits-'))
  const file = join(folder, 'edited.ts')
  await writeFile(file, edited('edit 0'))
  const oriel = await startOriel({
    args: ['--store', 'memory:', '--view', file, '--watch', '--token-auth-file', await tokenFile(folder)],
  })
  const times: number[] = []
  for (let i = 1; i <= rounds; i++) times.push(await timed(() => edit(oriel.url, file, `edit ${i}`)))
  await discard(oriel)
  await rm(folder, { recursive: true })
  return {
    id: 'plugins-edit',
    measure: 'from a saved edit to the served view',
    value: median(times),
    unit: 'ms',
    target: { atMost: 500 },
  }
}

async function tokenFile(folder: string): Promise<string> {
  const path = join(folder, 'tokens.csv')
  await writeFile(path, 'user-token,user,1\n')
  return path
}

async function edit(url: string, file: string, reason: string): Promise<void> {
  await writeFile(file, edited(reason))
  while (!(await answer(url)).includes(reason));
}

/** The body of a response of the edited view. The certificate is of no interest here. */
const answer = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer user-token' }
    const asked = request(
      `${url}/services/edited/clusters/root/api`,
      { headers, rejectUnauthorized: false },
      response => {
        const chunks: Buffer[] = []
        response.on('data', chunk => chunks.push(chunk))
        response.on('end', () => resolve(Buffer.concat(chunks).toString()))
      },
    )
    asked.on('error', reject).end()
  })

/** What plugins cost: their supervision, their lenses, their isolation, an edit, and an installation for tests. */
export const plugins: Benchmark = async ({ progress }) => {
  progress('objects')
  const oriel = await startInstallation({ plugins: [views] })
  await oriel.cluster('one', ...Array.from({ length: objects }, (_, i) => configMap(i)))
  const read = readerOf(oriel.url)
  progress('lists')
  const listed = await lists(read)
  progress('requests')
  const point = await points(read)
  await oriel.close()
  progress('starts and edits')
  const start = await starts()
  const edit = await edits()
  progress('isolation')
  const isolated = await isolation({ objects, rounds, gets })
  return [...listed, point, ...(await protections()), ...isolated, start, edit]
}
