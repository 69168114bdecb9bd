import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { discard, eventually, type Oriel, startOriel } from '../../test/support/oriel.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { ViewProcess } from './viewprocess.ts'

/** A plugin that starts a program, which writes its process ID and runs for an hour. */
const module = (pidFile: string, then: string): string => `
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
const program = spawn(process.execPath, ['-e', 'setTimeout(() => undefined, 3600000)'])
writeFileSync(${JSON.stringify(pidFile)}, String(program.pid))
${then}
export default ({ apiSetOf, defineVirtualWorkspace }) =>
  defineVirtualWorkspace('team', '/services/team', () => ({ apis: () => apiSetOf([]) }))
`

/** A process that has ended but that nobody has waited for is not running. */
async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') R')
  return !/\) [ZX]/.test(stat)
}

describe('a program that an isolated plugin has started', function () {
  this.timeout(120_000)
  let folder: string
  beforeEach(async () => {
    folder = await temporaryDirectory('programs')
  })
  const pidFile = (): string => join(folder, 'pid')
  const programPid = (): Promise<number> =>
    eventually(
      async () => Number(await readFile(pidFile(), 'utf8').catch(() => '0')),
      pid => pid > 0,
    )
  afterEach(async () => {
    const pid = await programPid()
    if (await isRunning(pid)) process.kill(pid, 'SIGKILL')
  })
  const ends = (pid: number): Promise<boolean> =>
    eventually(
      () => isRunning(pid),
      running => !running,
    )

  for (const [how, end] of [
    ['is stopped', (oriel: Oriel) => oriel.stop()],
    ['is killed', (oriel: Oriel) => oriel.kill()],
  ] as const)
    it(`ends when the server ${how}`, async () => {
      await writeFile(join(folder, 'team.mjs'), module(pidFile(), ''))
      await writeFile(join(folder, 'views.yaml'), 'views:\n- view: ./team.mjs\n  isolate: true\n')
      const args = ['--store', 'memory:', '--views', join(folder, 'views.yaml')]
      const oriel = await startOriel({ args })
      const pid = await programPid()
      await end(oriel)
      await ends(pid)
      await discard(oriel)
    })

  for (const [how, then, end] of [
    ['ends by itself', 'process.exit(3)', () => undefined],
    ['is ended by the server', '', (view: ViewProcess) => view.kill('a test')],
  ] as const)
    it(`ends when the process of the plugin ${how}`, async () => {
      const view = join(folder, 'team.mjs')
      await writeFile(view, module(pidFile(), then))
      const shard = { socketPath: join(folder, 'server.sock'), token: 'a' }
      const plugin = { view, options: {}, fresh: false, memory: 128 }
      const started = new ViewProcess(plugin, { folder, shard, logLevel: 'silent' })
      const pid = await programPid()
      end(started)
      await started.ended
      await ends(pid)
    })
})
