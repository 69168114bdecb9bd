import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, clientOf } from '../../support/client.ts'
import { notRun, skip } from '../../support/notrun.ts'
import { compiled, discard, eventually, type Oriel, run, startOriel } from '../../support/oriel.ts'
import { type Etcd, etcdProgram, noEtcd, startEtcd } from '../../support/servers/etcd.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { configAt } from '../../support/watcher.ts'

const configMaps = '/clusters/root/api/v1/namespaces/default/configmaps'

describe('oriel start --replicas', () => {
  it('refuses a directory that another server uses', async () => {
    const store = join(await temporaryDirectory('store'), 'store')
    const oriel = await startOriel({ args: ['--store', store] })
    try {
      const args = [
        '--replicas',
        '2',
        '--data-directory',
        await temporaryDirectory('replicas'),
        '--store',
        store,
      ]
      const { code, stdout, stderr } = await run(process.execPath, [compiled, 'start', ...args])
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(
        stderr,
        /^oriel: the store in \S+ is in use by process \d+: only one process may open it\n$/,
      )
    } finally {
      await discard(oriel)
    }
  })

  it('ends with the reason of the first replica that cannot start', async () => {
    const args = [
      '--replicas',
      '2',
      '--store',
      'etcd://nowhere',
      '--data-directory',
      await temporaryDirectory('replicas'),
    ]
    const { code, stderr } = await run(process.execPath, [compiled, 'start', ...args])
    assert.equal(code, 1)
    assert.match(stderr, /^oriel: --store etcd:\/\/nowhere: "nowhere" is not an address of etcd: [^\n]*\n$/)
  })
})

describe('a replica that ends before it is ready', () => {
  it('is started again while the others serve', async function () {
    if (!existsSync('/proc/self/environ')) skip(this, 'no /proc to find the processes in')
    this.timeout(120_000)
    const oriel = await startOriel({ args: ['--replicas', '2', '--store', 'memory:'] })
    try {
      const second = async () => replicasOf(oriel, '2')
      const [started = 0] = await eventually(second, pids => pids.length === 1)
      process.kill(started, 'SIGKILL')
      await eventually(second, pids => pids.length === 1 && pids[0] !== started)
      assert.match(oriel.output(), /a replica ended and is started again/)
      assert.equal(await oriel.stop(), 0)
    } finally {
      await discard(oriel)
    }
  })
})

/** The processes of the replicas of a server, or those with a number. */
const replicasOf = ({ directory }: Oriel, number = ''): readonly number[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .filter(
      pid => environmentOf(pid).includes(`ORIEL_REPLICA=${number}`) && commandOf(pid).includes(directory),
    )
    .map(Number)

/** What two replicas do, whatever their store. */
function onOnePort(where: string, storeArgs: () => Promise<readonly string[]>): void {
  describe(`two replicas on one port, with objects in ${where}`, function () {
    this.timeout(120_000)
    let oriel: Oriel
    let client: Client
    before(async () => {
      oriel = await startOriel({ args: ['--replicas', '2', ...(await storeArgs())] })
      client = await clientOf(configAt(oriel, oriel.url))
      const namespace = () => client('/clusters/root/api/v1/namespaces/default')
      await eventually(namespace, ({ status }) => status === 200)
    })
    after(async () => {
      client.close()
      await discard(oriel)
    })

    /** A request on a new connection, which any replica accepts. */
    const ask = async (...args: Parameters<Client>) => {
      const reply = await client(...args)
      client.close()
      return reply
    }

    const workers = (): readonly number[] => replicasOf(oriel)

    const replicasIn = (metrics: string): readonly string[] =>
      [...metrics.matchAll(/^process_start_time_seconds\{replica="(\d+)"\}/gm)].map(
        ([, number = '']) => number,
      )

    it('answer with each write that the other has acknowledged', async () => {
      for (let i = 0; i < 20; i++) {
        const body = { metadata: { name: `shared-${i}` } }
        assert.equal((await ask(configMaps, { method: 'POST', body })).status, 201)
        assert.equal((await ask(`${configMaps}/shared-${i}`)).status, 200)
      }
    })

    it('report the metrics of both, whichever is asked', async () => {
      const metrics = () => ask('/metrics')
      const { text } = await eventually(metrics, ({ text }) => replicasIn(text).length === 2)
      assert.deepEqual(replicasIn(text), ['1', '2'])
      const answered = /^apiserver_request_total\{replica="(\d)".*resource="configmaps".* [1-9]\d*$/gm
      assert.deepEqual(new Set([...text.matchAll(answered)].map(([, number]) => number)), new Set(['1', '2']))
    })

    it('go on, and one that was killed is started again', async function () {
      if (!existsSync('/proc/self/environ')) skip(this, 'no /proc to find the processes in')
      const [first] = workers()
      assert.equal(workers().length, 2)
      process.kill(first as number, 'SIGKILL')
      await eventually(
        async () => workers(),
        pids => pids.length === 2 && !pids.includes(first as number),
      )
      await eventually(
        () => ask('/metrics'),
        ({ text }) => replicasIn(text).length === 2,
      )
      assert.equal((await ask(configMaps)).status, 200)
    })

    it('end together', async () => {
      assert.equal(await oriel.stop(), 0)
      assert.doesNotMatch(oriel.output(), /^oriel: /m)
      if (existsSync('/proc/self/environ')) assert.deepEqual(workers(), [])
    })
  })
}

onOnePort('memory', async () => ['--store', 'memory:'])
onOnePort('a directory', async () => ['--store', join(await temporaryDirectory('replicas'), 'store')])
if (etcdProgram() === undefined) notRun('replicas on one port over etcd', noEtcd)
else {
  let etcd: Etcd
  onOnePort('etcd', async () => {
    etcd = await startEtcd()
    return ['--store', `etcd://${etcd.endpoint}`]
  })
  after(() => etcd.stop())
}

const readOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
const environmentOf = (pid: string): string => readOf(`/proc/${pid}/environ`)
const commandOf = (pid: string): string => readOf(`/proc/${pid}/cmdline`)
