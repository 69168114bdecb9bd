import { victimToken } from '../tools/connection.ts'
import { processorTime } from '../tools/process.ts'
import { type Benchmark, type Row, reached } from '../tools/result.ts'
import { withScratch } from '../tools/scratch.ts'
import type { Side } from '../tools/sides.ts'
import { median } from '../tools/statistics.ts'
import { Loader, type Requests, type Target, targetOf } from './loader.ts'
import { configMap, workspace } from './measures.ts'
import { thisCheckout, withOriel } from './server.ts'

const rounds = 7
const [workers, count] = [16, 2_000]

const collection = '/clusters/root:guard/api/v1/namespaces/default/configmaps'
const workspaces = '/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces'
const patch = { method: 'PATCH', workers, count, paths: [`${collection}/r0-%d`] } as const

/** More requests than objects: each object more than once. */
const firstRound = Array.from({ length: count }, (_, i) => `${collection}/r0-${i}`)

/** Requests of a user whose permissions are a role of the workspace; all others are of an administrator. */
const byUser = 'GET by a user with a role'
/** As client-go sends it. */
const overHttp2 = 'GET over HTTP/2'

/** The requests of a round. Those of the first round make the objects of the others. */
const requestsOf = (round: number): Readonly<Record<string, Requests>> => ({
  CREATE: {
    method: 'POST',
    paths: [collection],
    body: configMap(`r${round}-%d`),
    workers,
    count,
    contentType: 'application/json',
  },
  'workspace until it is Ready': {
    method: 'POST',
    paths: [workspaces],
    body: workspace(`r${round}-%d`),
    workers,
    count: count / 10,
    contentType: 'application/json',
    until: `${workspaces}/r${round}-%d`,
    untilHas: '"phase":"Ready"',
  },
  GET: { method: 'GET', paths: firstRound, workers, count: 4 * count },
  [overHttp2]: { method: 'GET', paths: firstRound, workers, count: 4 * count },
  [byUser]: { method: 'GET', paths: firstRound, workers, count: 4 * count },
  'LIST of 500 objects': { method: 'GET', paths: [`${collection}?limit=500`], workers, count: count / 5 },
  'merge patch': {
    ...patch,
    body: `{"data":{"round":"${round}"}}`,
    contentType: 'application/merge-patch+json',
  },
  apply: {
    ...patch,
    paths: [`${collection}/r0-%d?fieldManager=guard&force=true`],
    body: configMap('r0-%d').replace('xxx', `x${round}x`),
    contentType: 'application/apply-patch+yaml',
  },
  DELETE: { ...patch, method: 'DELETE', paths: [`${collection}/r${round}-%d`] },
})

/** Milliseconds of processor time of the server for one request. */
async function costOf(loader: Loader, target: Target, { pid }: Side, requests: Requests): Promise<number> {
  const before = await processorTime(pid)
  await loader.run({ target, requests })
  return (((await processorTime(pid)) - before) * 1_000) / requests.count
}

async function prepare(loader: Loader, side: Side): Promise<void> {
  const made = {
    method: 'POST',
    paths: [workspaces],
    body: workspace('guard'),
    workers: 1,
    count: 1,
  } as const
  const until = { until: '/clusters/root:guard/api/v1/namespaces', untilHas: '"name":"default"' }
  // The workspace is read before the namespace in it: its path is refused until it is ready.
  const ready = { until: `${workspaces}/guard`, untilHas: '"phase":"Ready"' }
  const target = targetOf(side)
  await loader.run({ target, requests: { ...made, contentType: 'application/json', ...ready } })
  await loader.run({
    target,
    requests: { method: 'GET', paths: [until.until], workers: 1, count: 1, ...until },
  })
  await loader.run({ target, requests: permission })
}

const rbac = 'rbac.authorization.k8s.io'
const permission: Requests = {
  method: 'POST',
  contentType: 'application/json',
  workers: 1,
  count: 1,
  paths: [`/clusters/root:guard/apis/${rbac}/v1/clusterrolebindings`],
  body: JSON.stringify({
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'victim' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'victim' }],
  }),
}

const targetFor = (name: string, side: Side): Target =>
  name === byUser ? { ...targetOf(side), token: victimToken } : targetOf(side, name === overHttp2)

type Costs = Readonly<Record<'changed' | 'base', readonly number[]>>

/** The median of the ratios of the rounds: both servers of a round meet the same disturbances of the machine. */
function rowOf(name: string, { changed, base }: Costs): Row {
  const ratio = median(changed.map((value, i) => value / (base[i] ?? Number.NaN)))
  const against = median(base)
  return {
    id: `guard-${name}`,
    measure: `${name}: processor time of one`,
    unit: 'ms',
    value: ratio * against,
    against: { what: 'the other checkout', value: against },
    target: { atMost: 1.1 },
  }
}

async function compare(
  loader: Loader,
  sides: Readonly<Record<keyof Costs, Side>>,
  say: (text: string) => void,
) {
  const costs = new Map<string, { changed: number[]; base: number[] }>()
  for (const side of Object.values(sides)) await prepare(loader, side)
  for (let round = 0; round < rounds; round++)
    for (const [name, requests] of Object.entries(requestsOf(round))) {
      if (round === 0 && name === 'DELETE') continue
      say(`round ${round + 1} of ${rounds}: ${name}`)
      const of = costs.get(name) ?? { changed: [], base: [] }
      costs.set(name, of)
      for (const side of round % 2 === 0 ? (['changed', 'base'] as const) : (['base', 'changed'] as const))
        of[side].push(await costOf(loader, targetFor(name, sides[side]), sides[side], requests))
    }
  return [...costs].map(([name, taken]) => rowOf(name, taken))
}

/**
 * The processor time of requests, of this checkout and of another built one: `BENCH_BASE=<folder>`. A request that became
 * 10 % dearer ends the program with exit code 1. Needs Go.
 */
export const guard: Benchmark = ({ progress }) =>
  withScratch(async ({ directory }) => {
    const { BENCH_BASE } = process.env
    if (BENCH_BASE === undefined) {
      process.stderr.write('guard did not run: BENCH_BASE=<folder> names the checkout to compare with.\n')
      return []
    }
    const loader = new Loader(directory)
    const rows = await withOriel(BENCH_BASE, directory, base =>
      withOriel(thisCheckout, directory, changed => compare(loader, { changed, base }, progress)),
    )
    await loader.stop()
    if (rows.some(row => reached(row) === false)) process.exitCode = 1
    return rows
  })
