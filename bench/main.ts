import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { apply } from './apply.ts'
import { heavy } from './attacks/heavy.ts'
import { attacks } from './attacks/stalled.ts'
import { authorization } from './authorization.ts'
import { cel } from './cel.ts'
import { lifecycle } from './lifecycle.ts'
import { list } from './list.ts'
import { besideApiserver } from './machines/besideapiserver.ts'
import { capacity } from './machines/capacity.ts'
import { cores } from './machines/cores.ts'
import { manyObjects } from './machines/manyobjects.ts'
import { replicas } from './machines/replicas.ts'
import { manyViews } from './manyviews.ts'
import { tracing } from './observed/tracing.ts'
import { consoleViewers } from './observed/viewers.ts'
import { guard } from './outside/guard.ts'
import { kcpLoad } from './outside/kcpload.ts'
import { outside } from './outside/outside.ts'
import { viewCost } from './outside/viewcost.ts'
import { plugins } from './plugins/plugins.ts'
import { point } from './point.ts'
import { proxy } from './proxy.ts'
import { queries } from './queries.ts'
import { quotaCounts } from './quota.ts'
import { schema } from './schema.ts'
import { soak } from './soak.ts'
import { standalone } from './standalone.ts'
import { startUp } from './start.ts'
import { showProgress } from './tools/progress.ts'
import { type Baseline, baselineFrom, table } from './tools/report.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { declaredViews } from './views.ts'
import { viewsBeside } from './viewsbeside.ts'
import { watch } from './watch.ts'
import { watchMemory } from './watchmemory.ts'
import { workspaces } from './workspaces.ts'

/** In the order in which they run. */
const benchmarks: Readonly<Record<string, Benchmark>> = {
  list,
  watch,
  'watch-memory': watchMemory,
  point,
  authorization,
  start: startUp,
  workspaces,
  lifecycle,
  proxy,
  standalone,
  cel,
  apply,
  schema,
  quota: quotaCounts,
  attacks,
  'attacks-work': heavy,
  plugins,
  replicas,
  cores,
  capacity,
  'many-objects': manyObjects,
  'beside-apiserver': besideApiserver,
  outside,
  'kcp-load': kcpLoad,
  guard,
  'view-cost': viewCost,
  soak,
  tracing,
  console: consoleViewers,
  views: declaredViews,
  'many-views': manyViews,
  queries,
  'views-beside': viewsBeside,
}

const usage = `npm run bench -- [--save] [${Object.keys(benchmarks).join('|')} …]`

const compiled = import.meta.dirname.endsWith(join('dist', 'bench'))
const baselinePath = join(import.meta.dirname, compiled ? '../../bench' : '', 'baseline.json')

const readBaseline = (): Baseline | undefined =>
  existsSync(baselinePath) ? (JSON.parse(readFileSync(baselinePath, 'utf8')) as Baseline) : undefined

async function run(names: readonly string[]): Promise<readonly Row[]> {
  const rows: Row[] = []
  const progress = showProgress()
  for (const name of names)
    rows.push(...((await benchmarks[name]?.({ progress: text => progress.say(`${name}: ${text}`) })) ?? []))
  progress.end()
  return rows
}

async function main(args: readonly string[]): Promise<void> {
  const save = args.includes('--save')
  const asked = args.filter(arg => arg !== '--save')
  const unknown = asked.find(name => !(name in benchmarks))
  if (unknown !== undefined) {
    process.stderr.write(`There is no benchmark "${unknown}".\n${usage}\n`)
    process.exitCode = 1
    return
  }
  const before = readBaseline()
  const rows = await run(asked.length > 0 ? asked : Object.keys(benchmarks))
  process.stdout.write(`${table(rows, before)}\n`)
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`
  if (save)
    writeFileSync(baselinePath, `${JSON.stringify(baselineFrom(rows, { machine, before }), null, 2)}\n`)
}

await main(process.argv.slice(2))
