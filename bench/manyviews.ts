import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { resources } from '../kcp/resources.ts'
import { DeclaredWorld } from '../test/model/declared/world.ts'
import type { Benchmark, Row } from './tools/result.ts'
import { median } from './tools/statistics.ts'

// The most that one workspace can have is 100.
const workspaces = 10
/** A workspace with Views whose first lists are measured. */
const other = workspaces
const viewsOfEach = 100
const objectsOfEach = 20
const writes = 300
const samples = 10
const rounds = 3

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const nameOf = (workspace: number): string => `tenant${workspace}`

/** Views of ten workspaces, each with its own expression over the config maps of its workspace. */
class Scene {
  readonly world: DeclaredWorld

  constructor(world: DeclaredWorld) {
    this.world = world
  }

  async fill(): Promise<void> {
    const { content, client } = this.world.shard
    const cluster = { apiVersion: 'core.kcp.io/v1alpha1', kind: 'LogicalCluster' }
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }
    for (let i = 0; i <= other; i++) {
      const ready = { ...cluster, metadata: { name: 'cluster' }, spec: {}, status: { phase: 'Ready' } }
      await content.add([
        { cluster: nameOf(i), resource: resources.logicalClusters, object: ready },
        { cluster: nameOf(i), resource: { ...configMaps, resource: 'namespaces' }, object: namespace },
      ])
      for (let n = 0; n < objectsOfEach; n++) {
        const metadata = { name: `m-${n}`, namespace: 'default' }
        await client.create(configMaps, this.#key(i, metadata.name), {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata,
          data: { size: String(n) },
        })
      }
    }
  }

  #key(workspace: number, name: string, namespace = 'default') {
    return { cluster: nameOf(workspace), namespace, name }
  }

  /** A View that shows all config maps. No two Views have the same expression. */
  declare(workspace: number, view: number): Promise<unknown> {
    const where = `int(object.data.size) < ${objectsOfEach + workspace * viewsOfEach + view}`
    const name = `view-${view}`
    return this.world.shard.client.create(resources.views, this.#key(workspace, name, ''), {
      apiVersion: 'views.oriel.dev/v1alpha1',
      kind: 'View',
      metadata: { name },
      spec: {
        source: { cluster: '.' },
        resources: [{ resource: 'configmaps', verbs: ['get', 'list', 'watch'], where }],
      },
    })
  }

  /** The objects of a View. */
  async list(workspace: number, view: number): Promise<number> {
    const cluster = nameOf(workspace)
    const set = this.world.view.apis({ owner: cluster, view: `view-${view}` }, cluster)
    const storage = set?.find('', 'v1', 'configmaps')?.storage
    if (storage === undefined) throw new Error('the View is not served')
    let count = 0
    for await (const batch of storage.list(this.world.contextOf('bench', cluster), { cluster }))
      count += batch.length
    return count
  }

  /** Milliseconds of one write of a config map, with all that follows in this turn of its workspace. */
  async written(): Promise<number> {
    const begin = performance.now()
    for (let i = 0; i < writes; i++)
      await this.world.shard.client.update(configMaps, this.#key(i % workspaces, 'm-0'), object => ({
        ...object,
        data: { size: '0', count: String(i) },
      }))
    return (performance.now() - begin) / writes
  }
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const heap = (): number => {
  for (let i = 0; i < 3; i++) collect()
  return process.memoryUsage().heapUsed
}

/** Milliseconds from the creation of a View to its first list. `from`: the number of the first of these Views. */
async function firstAnswers(scene: Scene, from: number): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < samples; i++) {
    const begin = performance.now()
    await scene.declare(other, from + i)
    if ((await scene.list(other, from + i)) !== objectsOfEach) throw new Error('objects are missing')
    times.push(performance.now() - begin)
  }
  return median(times)
}

async function declareAll(scene: Scene): Promise<void> {
  for (let i = 0; i < workspaces; i++)
    for (let view = 0; view < viewsOfEach; view++) await scene.declare(i, view)
}

async function listAll(scene: Scene): Promise<void> {
  for (let i = 0; i < workspaces; i++)
    for (let view = 0; view < viewsOfEach; view++) await scene.list(i, view)
}

async function writesOf(scene: Scene): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < rounds; i++) times.push(await scene.written())
  return median(times)
}

async function measured(scene: Scene): Promise<readonly Row[]> {
  await firstAnswers(scene, 0)
  await writesOf(scene)
  const [few, writesBefore] = [await firstAnswers(scene, samples), await writesOf(scene)]
  const all = workspaces * viewsOfEach
  const empty = heap()
  await declareAll(scene)
  const declared = heap()
  await listAll(scene)
  const listed = heap()
  const many = await firstAnswers(scene, 2 * samples)
  const writesAfter = await writesOf(scene)
  const memory = (bytes: number): Pick<Row, 'value' | 'unit'> => ({ value: bytes / all / 1024, unit: 'KiB' })
  const of = `${all} Views of ${workspaces} workspaces`
  return [
    {
      id: 'many-views-declared',
      measure: `memory of each of ${of}, before the first request`,
      ...memory(declared - empty),
    },
    {
      id: 'many-views-listed',
      measure: `memory of each after a LIST of ${objectsOfEach} objects`,
      ...memory(listed - empty),
    },
    {
      id: 'many-views-first',
      measure: 'from the creation of a View to its first list',
      value: many,
      unit: 'ms',
      against: { what: 'without these Views', value: few },
    },
    {
      id: 'many-views-write',
      measure: `a write of an object that ${viewsOfEach} Views show, without watchers`,
      value: writesAfter,
      unit: 'ms',
      against: { what: 'without these Views', value: writesBefore },
    },
  ]
}

/** 1,000 Views of ten workspaces: their memory, and what they cost requests for others. */
export const manyViews: Benchmark = async ({ progress }) => {
  const scene = new Scene(await DeclaredWorld.start())
  progress('writing objects')
  await scene.fill()
  progress('declaring Views')
  const rows = await measured(scene)
  await scene.world.stop()
  return rows
}
