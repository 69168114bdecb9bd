import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KubeObject } from '../framework/index.ts'
import { parseYaml } from '../framework/wire/yaml.ts'
import { root } from '../test/support/source.ts'
import { type Installation, startInstallation, type TestUser } from '../testing/index.ts'
import { views } from '../virtual/views/index.ts'
import typescript from './beside/red.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { median, percentile } from './tools/statistics.ts'

const objects = Number(process.env.VIEWS_OBJECTS ?? 2_000)
const lists = 15
const watchers = 50
const changes = 20

const maps = '/clusters/one/api/v1/configmaps'
const sides = { yaml: `/services/views/one/red${maps}`, typescript: `/services/red${maps}`, plain: maps }
const yaml = readFileSync(join(root, 'bench/beside/red.yaml'), 'utf8')
const code = readFileSync(join(root, 'bench/beside/red.ts'), 'utf8')

const linesOf = (text: string): number => text.split('\n').filter(line => /[^\s]/.test(line)).length

const configMap = (i: number): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `m-${i}` } },
  data: { color: i % 2 === 0 ? 'red' : 'blue', token: 'secret', text: 'x'.repeat(800) },
})

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

/** Milliseconds from the request that creates a View to its first list: the median of some, after the first. */
async function served(admin: TestUser): Promise<number> {
  const path = '/clusters/one/apis/views.oriel.dev/v1alpha1/views'
  const times: number[] = []
  for (const name of ['red', 'red-1', 'red-2', 'red-3', 'red-4', 'red-5']) {
    const body = { ...(parseYaml(yaml).value as object), metadata: { name } }
    const list = sides.yaml.replace('/red/', `/${name}/`)
    const time = await timed(async () => {
      const { status, text } = await admin.request(path, { method: 'POST', body })
      if (status !== 201) throw new Error(text)
      while ((await admin.request(`${list}?limit=1`)).status !== 200);
    })
    times.push(time)
  }
  return median(times.slice(1))
}

/** The p50 of lists by both sides in turn. */
async function listed(admin: TestUser): Promise<Readonly<Record<keyof typeof sides, number>>> {
  const times = { yaml: [] as number[], typescript: [] as number[], plain: [] as number[] }
  for (let i = 0; i < lists; i++)
    for (const side of ['yaml', 'typescript', 'plain'] as const)
      times[side].push(await timed(() => admin.request(sides[side])))
  return { yaml: median(times.yaml), typescript: median(times.typescript), plain: median(times.plain) }
}

/** The p99 of the delay of events at many watchers of one side. */
async function watched(admin: TestUser, path: string): Promise<number> {
  const { object } = await admin.request(`${path}?limit=1`)
  const { resourceVersion } = (object?.metadata ?? {}) as { resourceVersion?: string }
  const open = Array.from({ length: watchers }, () =>
    admin.watch(`${path}?resourceVersion=${resourceVersion}`),
  )
  const all = await Promise.all(open)
  const delays: number[] = []
  for (let i = 1; i <= changes; i++) {
    const at = `/clusters/one/api/v1/namespaces/default/configmaps/m-0`
    const begin = performance.now()
    const arrived = all.map(async watch => {
      await watch.until(events => events.length >= i)
      delays.push(performance.now() - begin)
    })
    await admin.request(at, { method: 'PATCH', body: { data: { text: `${path}-${i}` } } })
    await Promise.all(arrived)
  }
  for (const watch of all) watch.close()
  return percentile(delays, 0.99)
}

async function measured(oriel: Installation): Promise<readonly Row[]> {
  const admin = oriel.as({ name: 'admin', groups: ['system:masters'] })
  const first = await served(admin)
  const times = await listed(admin)
  const events = {
    yaml: await watched(admin, sides.yaml),
    typescript: await watched(admin, sides.typescript),
  }
  const beside = (
    id: string,
    measure: string,
    unit: string,
    of: Record<'yaml' | 'typescript', number>,
  ): Row => ({
    ...{ id, measure, unit, value: of.yaml },
    against: { what: 'the same view in TypeScript', value: of.typescript },
  })
  return [
    beside('beside-lines', 'lines of a filtered view in YAML', 'lines', {
      yaml: linesOf(yaml),
      typescript: linesOf(code),
    }),
    {
      ...{ id: 'beside-served', measure: 'from its creation to its first list', unit: 'ms', value: first },
      target: { atMost: 100 },
    },
    beside('beside-list', `LIST of ${objects} objects, of which half are shown, p50`, 'ms', times),
    {
      ...{ id: 'beside-plain', measure: 'the same LIST, in YAML', unit: 'ms', value: times.yaml },
      against: { what: 'all objects without a view', value: times.plain },
    },
    beside('beside-watch', `p99 of the delay of an event at ${watchers} watchers`, 'ms', events),
  ]
}

/** One filtered view, as a View in YAML and as a plugin in TypeScript, in one server over HTTP. */
export const viewsBeside: Benchmark = async ({ progress }) => {
  const oriel = await startInstallation({ plugins: [() => views, typescript] })
  progress('writing objects')
  await oriel.cluster('one', ...Array.from({ length: objects }, (_, i) => configMap(i)))
  progress('measuring')
  const rows = await measured(oriel)
  await oriel.close()
  return rows
}
