import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, clientOf } from '../../test/support/client.ts'
import { discard, eventually, type Oriel, startOriel } from '../../test/support/oriel.ts'
import { configAt } from '../../test/support/watcher.ts'
import type { Row } from '../tools/result.ts'
import { alternate } from '../tools/statistics.ts'

/** How much is measured. */
interface Extent {
  readonly objects: number
  readonly rounds: number
  readonly gets: number
}

const plugin = (
  name: string,
): string => `export default ({ allow, apiSetOf, defineVirtualWorkspace, loopback }) =>
  defineVirtualWorkspace('${name}', '/services/${name}', ({ backend }) => {
    const apis = apiSetOf([backend.apis('*').find('', 'v1', 'configmaps')])
    return { apis: () => apis, authorize: async () => allow('a benchmark'), actAs: () => loopback }
  })`

const maps = '/clusters/root/api/v1/namespaces/default/configmaps'

/** The same view in the server and in a process of its own. */
export async function isolation(extent: Extent): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'oriel-isolation-'))
  for (const name of ['inside', 'apart']) await writeFile(join(folder, `${name}.mjs`), plugin(name))
  const views = [{ view: join(folder, 'inside.mjs') }, { view: join(folder, 'apart.mjs'), isolate: true }]
  await writeFile(join(folder, 'views.yaml'), JSON.stringify({ views }))
  const oriel = await startOriel({ args: ['--store', 'memory:', '--views', join(folder, 'views.yaml')] })
  try {
    return await measured(oriel, extent)
  } finally {
    await discard(oriel)
    await rm(folder, { recursive: true })
  }
}

async function measured(oriel: Oriel, { objects, rounds, gets }: Extent): Promise<readonly Row[]> {
  const client = await clientOf(configAt(oriel, oriel.url, 'shard-base'))
  for (let i = 0; i < objects; i++) await create(client, i)
  await eventually(
    () => client('/readyz/apart'),
    ({ status }) => status === 200,
  )
  const lists = (view: string) => () => timed(() => read(client, `/services/${view}${maps}`))
  const points = (view: string) => () =>
    timed(async () => {
      for (let i = 0; i < gets; i++) await read(client, `/services/${view}${maps}/map-1`)
    })
  const list = await alternate(rounds, { inside: lists('inside'), apart: lists('apart') })
  const get = await alternate(rounds, { inside: points('inside'), apart: points('apart') })
  client.close()
  const row = (id: string, measure: string, { inside, apart }: typeof list, share = 1): Row => ({
    id,
    measure,
    value: apart / share,
    unit: 'ms',
    against: { what: 'the same view in the server', value: inside / share },
  })
  return [
    row('plugins-isolated-list', `LIST of ${objects} objects through an isolated view`, list),
    row('plugins-isolated-get', 'GET through an isolated view', get, gets),
  ]
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

async function read(client: Client, path: string): Promise<void> {
  const { status, text } = await client(path)
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
}

async function create(client: Client, i: number): Promise<void> {
  const body = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `map-${i}` },
    data: { text: 'x'.repeat(800) },
  }
  const headers = { 'content-type': 'application/json' }
  const { status, text } = await client(maps, { method: 'POST', headers, body })
  if (status !== 201) throw new Error(`${maps}: ${status} ${text}`)
}
