import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { userKubeconfig } from '../../cmd/files/kubeconfig.ts'
import { creatorToken } from '../tools/connection.ts'
import { withKcp } from '../tools/kcp.ts'
import { processorTime } from '../tools/process.ts'
import type { Benchmark, Row } from '../tools/result.ts'
import { withScratch } from '../tools/scratch.ts'
import type { Side } from '../tools/sides.ts'
import { thisCheckout, withOriel } from './server.ts'

const run = promisify(execFile)

const tests = ['TestWorkspaceCreation', 'TestWorkspaceSimpleCRUD', 'TestAPISharing'] as const

/** The numbers of kcp's example configuration, flat, at rates that do not hold a fast server back. */
const parameters = {
  workspaceCount: 100,
  workspaceDepth: 1,
  workspaceTreeType: 'flat',
  createWorkspaceQPS: 200,
  crudConfigMapQPS: 400,
  providerWorkspacesCount: 10,
  consumerWorkspacesCount: 90,
  bindingsPerConsumer: 1,
  createAPIExportQPS: 40,
  createAPIBindingQPS: 40,
  crudSharedAPIQPS: 400,
  crLeafFields: 160,
  crListItems: 30,
  crTargetSizeBytes: 6000,
}

/** Seconds of one test. */
interface Taken {
  readonly wall: number
  /** Of the server. */
  readonly processor: number
}

/** The built tests, and their configuration. */
interface LoadTests {
  readonly program: string
  readonly config: string
}

async function build(source: string, directory: string): Promise<LoadTests> {
  const program = join(directory, 'load.test')
  await run('go', ['test', '-c', '-o', program, './testing'], { cwd: join(source, 'test/load') })
  const config = join(directory, 'load.json')
  await writeFile(config, JSON.stringify({ params: parameters }))
  return { program, config }
}

async function kubeconfigOf({ address: { port, ca = '' } }: Side, directory: string): Promise<string> {
  const path = join(directory, `load-${port}.kubeconfig`)
  const server = `https://127.0.0.1:${port}`
  await writeFile(path, userKubeconfig({ server, ca, name: 'creator', token: creatorToken }))
  return path
}

/** Runs the tests against one server in order: later ones use the workspaces that the first has made. */
async function takenBy(
  { program, config }: LoadTests,
  side: Side,
  kubeconfig: string,
): Promise<readonly Taken[]> {
  const taken: Taken[] = []
  for (const test of tests) {
    const [begin, before] = [performance.now(), await processorTime(side.pid)]
    const args = ['-test.run', `^${test}$`, '-test.timeout', '20m', `--config=${config}`]
    const env = { ...process.env, FRONTPROXY_KUBECONFIG: kubeconfig, SHARD_KUBECONFIG: kubeconfig }
    await run(program, args, { env, maxBuffer: 1 << 26 }).catch(({ stdout }) => {
      throw new Error(`${test} failed: ${String(stdout).slice(-2_000)}`)
    })
    const wall = (performance.now() - begin) / 1_000
    taken.push({ wall, processor: (await processorTime(side.pid)) - before })
  }
  return taken
}

function rowsOf(oriel: readonly Taken[], kcp: readonly Taken[] | undefined): readonly Row[] {
  return tests.flatMap((test, i) =>
    (['wall', 'processor'] as const).map(time => ({
      id: `kcp-load-${test}-${time}`,
      measure: `${test}: ${time === 'wall' ? 'duration' : 'processor time of the server'}`,
      value: (oriel[i] as Taken)[time],
      unit: 's',
      ...(kcp && { against: { what: 'kcp', value: (kcp[i] as Taken)[time] } }),
    })),
  )
}

/** kcp's own load tests (`test/load` of `KCP_SOURCE`), against `oriel start`, and against kcp where `KCP_BIN` is. */
export const kcpLoad: Benchmark = ({ progress }) =>
  withScratch(async ({ directory }) => {
    const { KCP_SOURCE, KCP_BIN } = process.env
    if (KCP_SOURCE === undefined) throw new Error('KCP_SOURCE has to name a checkout of kcp.')
    progress('building the tests')
    const built = await build(KCP_SOURCE, directory)
    const measure = async (side: Side) => takenBy(built, side, await kubeconfigOf(side, directory))
    progress('Oriel')
    const oriel = await withOriel(thisCheckout, directory, measure)
    if (KCP_BIN === undefined) return rowsOf(oriel, undefined)
    progress('kcp')
    return rowsOf(oriel, await withKcp(KCP_BIN, directory, measure))
  })
