import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './support/source.ts'
import { temporaryDirectory } from './support/temporary.ts'

interface Arrangements {
  readonly arrangements: Readonly<Record<string, object>>
  writePrograms(arrangement: object, options: object): Readonly<Record<string, string>>
  tableOf(results: object): { readonly text: string; readonly isWorse: boolean }
}

const load = (): Promise<Arrangements> =>
  import(pathToFileURL(join(root, 'scripts/kcparrangements.mjs')).href)

describe("the arrangements of kcp's end-to-end tests", () => {
  it('start the program of kcp or of Oriel for each process', async () => {
    const { arrangements, writePrograms } = await load()
    const options = { oriel: ['/bin/echo', 'oriel'], kcps: () => '/bin/echo' }
    for (const [name, root, other, proxy] of [
      ['kcp-root', 'kcp', 'oriel', 'kcp'],
      ['oriel-root', 'oriel', 'kcp', 'oriel'],
      ['two-shards', 'oriel', 'oriel', 'oriel'],
    ] as const) {
      const folder = await temporaryDirectory('arrangements')
      const programs = writePrograms(arrangements[name] ?? {}, { ...options, folder })
      const said = (variable: string, ...args: readonly string[]): string =>
        execFileSync(programs[variable] ?? '', args, { encoding: 'utf8' }).startsWith('oriel')
          ? 'oriel'
          : 'kcp'
      assert.equal(said('KCP_ASSET_KCP', 'start', '--shard-name=root'), root)
      assert.equal(said('KCP_ASSET_KCP', 'start', '--shard-name=shard-1'), other)
      assert.equal(said('KCP_ASSET_KCP', 'start'), root, 'servers of single tests')
      assert.equal(said('KCP_ASSET_KCP_FRONT_PROXY'), proxy)
    }
  })

  it('are compared with the first one in a table', async () => {
    const { tableOf } = await load()
    const kcp = { 'quota TestA': 'PASS', 'quota TestB': 'FAIL', 'quota TestC': 'PASS' }
    const good = { 'quota TestA': 'PASS', 'quota TestB': 'FAIL', 'quota TestC': 'SKIP' }
    assert.deepEqual(tableOf({ kcp, good }), {
      isWorse: false,
      text: [
        '| package | test | kcp | good |',
        '| --- | --- | --- | --- |',
        '| quota | TestA | pass | pass |',
        '| quota | TestB | fail | fail |',
        '| quota | TestC | pass | skip |',
        '',
      ].join('\n'),
    })
    assert.ok(tableOf({ kcp, bad: { ...good, 'quota TestA': 'FAIL' } }).isWorse)
    assert.ok(tableOf({ kcp, ended: {} }).isWorse)
  })
})
