import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject } from '../framework/index.ts'
import { parseYaml } from '../framework/wire/yaml.ts'
import { root } from '../test/support/source.ts'
import { type Installation, startInstallation } from '../testing/index.ts'
import { TestUser, tokenOf } from '../testing/user.ts'
import { views } from '../virtual/views/index.ts'
import { buildGoRed, type GoRed, startGoRed } from './beside/gored.ts'
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

const go = readFileSync(join(root, 'bench/beside/red.go'), 'utf8')

const linesOf = (text: string): number => text.split('\n').filter(line => /[^\s]/.test(line)).length

const configMap = (i: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `m-${i}` },
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
async function watched(admin: TestUser, path: string, client = admin): Promise<number> {
  const { object } = await client.request(`${path}?limit=1`)
  const { resourceVersion } = (object?.metadata ?? {}) as { resourceVersion?: string }
  const open = Array.from({ length: watchers }, () =>
    client.watch(`${path}?resourceVersion=${resourceVersion}`),
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
  const admin = oriel.as(administrator)
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
    id,
    measure,
    unit,
    value: of.yaml,
    against: { what: 'the same view in TypeScript', value: of.typescript },
  })
  return [
    beside('beside-lines', 'lines of a filtered view in YAML', 'lines', {
      yaml: linesOf(yaml),
      typescript: linesOf(code),
    }),
    {
      id: 'beside-served',
      measure: 'from its creation to its first list',
      unit: 'ms',
      value: first,
      target: { atMost: 100 },
    },
    beside('beside-list', `LIST of ${objects} objects, of which half are shown, p50`, 'ms', times),
    {
      id: 'beside-plain',
      measure: 'the same LIST, in YAML',
      unit: 'ms',
      value: times.yaml,
      against: { what: 'all objects without a view', value: times.plain },
    },
    beside('beside-watch', `p99 of the delay of an event at ${watchers} watchers`, 'ms', events),
  ]
}

const administrator = { name: 'admin', groups: ['system:masters'] }

/** The same view as a program with kcp's framework, in front of the same server. */
async function measuredGo(oriel: Installation, red: GoRed): Promise<readonly Row[]> {
  const admin = oriel.as(administrator)
  const begin = performance.now()
  const view = await startGoRed(red, { url: oriel.url, token: tokenOf(administrator) })
  const client = new TestUser(view.url, administrator)
  const first = await client.request(`${sides.typescript}?limit=1`)
  if (first.status !== 200) throw new Error(first.text)
  const served = performance.now() - begin
  const times: number[] = []
  const own: number[] = []
  for (let i = 0; i < lists; i++) {
    times.push(await timed(() => client.request(sides.typescript)))
    own.push(await timed(() => admin.request(sides.yaml)))
  }
  const delays = {
    go: await watched(admin, sides.typescript, client),
    yaml: await watched(admin, sides.yaml),
  }
  await view.stop()
  const row = (
    id: string,
    measure: string,
    [value, unit]: readonly [number, string],
    goValue: number,
  ): Row => ({
    id,
    measure,
    value,
    unit,
    against: { what: "the same view with kcp's framework in Go", value: goValue },
  })
  return [
    row('beside-go-lines', 'lines of a filtered view in YAML', [linesOf(yaml), 'lines'], linesOf(go)),
    {
      id: 'beside-go-build',
      measure: 'build of the view in Go, with a filled cache',
      value: red.seconds,
      unit: 's',
    },
    {
      id: 'beside-go-served',
      measure: 'from the start of the view in Go to its first list',
      value: served,
      unit: 'ms',
    },
    row('beside-go-list', `LIST of ${objects} objects, p50`, [median(own), 'ms'], median(times)),
    row(
      'beside-go-watch',
      `p99 of the delay of an event at ${watchers} watchers`,
      [delays.yaml, 'ms'],
      delays.go,
    ),
  ]
}

/**
 * One filtered view over HTTP: as a View in YAML, as a plugin in TypeScript, and with `KCP_SOURCE` as a program with
 * kcp's framework in Go.
 */
export const viewsBeside: Benchmark = async ({ progress }) => {
  const oriel = await startInstallation({ plugins: [() => views, typescript] })
  progress('writing objects')
  await oriel.cluster('one', ...Array.from({ length: objects }, (_, i) => configMap(i)))
  progress('measuring')
  const rows = await measured(oriel)
  const scratch = await mkdtemp(join(tmpdir(), 'oriel-red-'))
  progress('building the view in Go')
  const red = await buildGoRed(scratch)
  if (typeof red === 'string') console.error(`The view in Go was not measured: ${red}`)
  const ofGo = typeof red === 'string' ? [] : await measuredGo(oriel, red)
  await rm(scratch, { recursive: true })
  await oriel.close()
  return [...rows, ...ofGo]
}
