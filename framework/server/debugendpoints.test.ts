import assert from 'node:assert/strict'
import { createLifetime } from '../async/lifetime.ts'
import { type Logger, silent } from '../contract/log.ts'
import { as, get, refused, serving, start } from '../testing/serving.ts'
import { CpuProfiler } from './profiling.ts'

const put = (body: string) => as('admin', { method: 'PUT', body })

describe('the debug endpoints of a server', () => {
  const scene = serving()

  it('record a CPU profile for the users who may get the path', async () => {
    await start(scene)
    const { status, json, headers } = await get(scene, '/debug/pprof/profile?seconds=0', as('reader'))
    assert.equal(status, 200)
    assert.equal(headers['content-disposition'], 'attachment; filename="oriel.cpuprofile"')
    assert.ok(Array.isArray(json.nodes) && json.endTime >= json.startTime)
    await refused(
      scene,
      '/debug/pprof/profile?seconds=0',
      403,
      /cannot get path "\/debug\/pprof\/profile"/,
      {},
    )
  })

  it('record one CPU profile at a time, until the client is gone', async () => {
    const profiler = new CpuProfiler()
    const lifetime = createLifetime(60_000)
    const first = profiler.answer(new URLSearchParams(), lifetime)
    const second = () => profiler.answer(new URLSearchParams('seconds=0'), createLifetime(60_000))
    await assert.rejects(second, { code: 409 })
    lifetime.end('client gone')
    await assert.rejects(first)
    assert.equal((await second()).status, 200)
  })

  it('refuse other durations than 0 to 300 seconds', async () => {
    await start(scene)
    for (const seconds of ['x', '-1', '301', ''])
      await refused(scene, `/debug/pprof/profile?seconds=${seconds}`, 400, /^seconds: ".*" is not a number/)
  })

  it('make a heap snapshot for members of system:masters only, whatever RBAC permits', async () => {
    await start(scene)
    await refused(scene, '/debug/pprof/heap', 403, /for members of system:masters only/, as('reader'))
    await refused(scene, '/debug/pprof/heap', 403, /for members of system:masters only/, {})
  })

  it('change the level of the log while the server runs', async () => {
    const levels: string[] = []
    const log: Logger = { ...silent, setLevel: level => void levels.push(level) }
    await start(scene, undefined, { log })
    for (const [given, level] of [
      ['4\n', 'debug'],
      ['2', 'info'],
      ['0', 'warn'],
      ['error', 'error'],
    ] as const) {
      const { status, body } = await get(scene, '/debug/flags/v', put(given))
      assert.deepEqual([status, body], [200, `successfully set klog.logging.verbosity to ${given.trim()}`])
      assert.equal(levels.at(-1), level)
    }
    await refused(scene, '/debug/flags/v', 400, /"loud" is not a verbosity/, put('loud'))
    const anyone = { method: 'PUT', body: '9' }
    await refused(scene, '/debug/flags/v', 403, /cannot put path "\/debug\/flags\/v"/, anyone)
    assert.equal(levels.length, 4)
  })
})
