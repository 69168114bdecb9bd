import { Connection, userToken } from '../tools/connection.ts'
import { processorTime } from '../tools/process.ts'
import type { Benchmark, Row } from '../tools/result.ts'
import { withScratch } from '../tools/scratch.ts'
import type { Side } from '../tools/sides.ts'
import { median } from '../tools/statistics.ts'
import { bindings, offer, offered } from './bindings.ts'
import { Loader, type Requests, type Task, targetOf } from './loader.ts'
import { workspace } from './measures.ts'
import { thisCheckout, withOriel } from './server.ts'

const rounds = 7
const [workers, count] = [16, 2_000]
/** Watches that are open during some of the creates, and these creates. */
const [watches, watched] = [100, 1_000]

const [provider, consumer] = ['root:provider', 'root:consumer0']
const workspaces = '/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces'
const resource = `apis/${offered.group}/v1/namespaces/default/${offered.resource}`

/** The collections of the same objects: in the workspace, and in the view of the export. */
type Ways = Readonly<Record<'workspace' | 'view', string>>

const widget = (name: string): string =>
  JSON.stringify({
    apiVersion: `${offered.group}/v1`,
    kind: offered.kind,
    metadata: { name, labels: { app: 'bench' } },
    spec: { color: 'x'.repeat(860) },
  })

const writing = { contentType: 'application/json', workers } as const
const create = (path: string, name: string, more: { readonly count: number }): Requests => ({
  method: 'POST',
  paths: [path],
  body: widget(name),
  ...writing,
  ...more,
})

/** The tasks of a round through one way. The objects of the first round in the workspace are those of the other tasks. */
function tasksOf(path: string, way: string, round: number): Readonly<Record<string, Omit<Task, 'target'>>> {
  const objects = Array.from({ length: count }, (_, i) => `${path}/workspace0-${i}`)
  return {
    CREATE: { requests: create(path, `${way}${round}-%d`, { count }) },
    GET: { requests: { method: 'GET', paths: objects, workers, count: 4 * count } },
    'LIST of 500 objects': {
      requests: { method: 'GET', paths: [`${path}?limit=500`], workers, count: count / 5 },
    },
    'merge patch': {
      requests: {
        ...writing,
        method: 'PATCH',
        paths: objects,
        body: `{"spec":{"color":"${way}${round}"}}`,
        contentType: 'application/merge-patch+json',
        count,
      },
    },
    [`CREATE with an event at ${watches} watches`]: {
      requests: create(path, `${way}-watched${round}-%d`, { count: watched }),
      watches,
      watched: `${path}?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan`,
    },
  }
}

/** Two workspaces, of which the second binds the export of the first; returns the ways to its objects. */
async function prepare(loader: Loader, side: Side): Promise<Ways> {
  const target = targetOf(side)
  const ready = { until: `${workspaces}/%s`, untilHas: '"phase":"Ready"' }
  for (const name of ['provider', 'consumer0']) {
    const until = ready.until.replace('%s', name)
    const made = { method: 'POST', paths: [workspaces], body: workspace(name), count: 1 } as const
    await loader.run({ target, requests: { ...writing, ...made, ...ready, until } })
  }
  await offer(loader, target, provider)
  await loader.run({ target, requests: bindings({ provider, consumers: 'root:consumer%d', count: 1 }) })
  return waysTo(side)
}

async function waysTo({ address }: Side): Promise<Ways> {
  const connection = await Connection.open(address)
  const clusterOf = async (path: string): Promise<string> => {
    const { body } = await connection.read({
      path: `/clusters/${path}/apis/core.kcp.io/v1alpha1/logicalclusters/cluster`,
      token: userToken,
    })
    return JSON.parse(body.toString()).metadata.annotations['kcp.io/cluster']
  }
  const view = `/services/apiexport/${await clusterOf(provider)}/${offered.group}/clusters`
  const ways = {
    workspace: `/clusters/${consumer}/${resource}`,
    view: `${view}/${await clusterOf(consumer)}/${resource}`,
  }
  connection.close()
  return ways
}

type Costs = Readonly<Record<keyof Ways, number[]>>

function rowOf(name: string, { workspace: plain, view }: Costs): Row {
  const against = median(plain)
  return {
    id: `view-cost-${name}`,
    measure: `${name} through the view of an export: processor time of one`,
    unit: 'ms',
    value: median(view.map((value, i) => value / (plain[i] ?? Number.NaN))) * against,
    against: { what: 'in the workspace', value: against },
    target: { atMost: 1.1 },
  }
}

async function compare(loader: Loader, side: Side, say: (text: string) => void): Promise<readonly Row[]> {
  const ways = await prepare(loader, side)
  const costs = new Map<string, Costs>()
  for (let round = 0; round < rounds; round++)
    for (const way of round % 2 === 0 ? (['workspace', 'view'] as const) : (['view', 'workspace'] as const))
      for (const [name, task] of Object.entries(tasksOf(ways[way], way, round))) {
        say(`round ${round + 1} of ${rounds}: ${name} ${way}`)
        const of = costs.get(name) ?? { workspace: [], view: [] }
        costs.set(name, of)
        const before = await processorTime(side.pid)
        await loader.run({ target: targetOf(side), ...task })
        of[way].push((((await processorTime(side.pid)) - before) * 1_000) / task.requests.count)
      }
  return [...costs].map(([name, taken]) => rowOf(name, taken))
}

/**
 * The processor time of requests for the objects of an exported API in one workspace: through the view of the export,
 * against the workspace itself, in turn. Needs Go.
 */
export const viewCost: Benchmark = ({ progress }) =>
  withScratch(async ({ directory }) => {
    const loader = new Loader(directory)
    const rows = await withOriel(thisCheckout, directory, side => compare(loader, side, progress))
    await loader.stop()
    return rows
  })
