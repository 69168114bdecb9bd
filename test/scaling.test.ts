import assert from 'node:assert/strict'
import { join } from 'node:path'
import { readText } from './support/oriel.ts'
import { root } from './support/source.ts'

type Rows = Readonly<Record<string, { readonly value: number }>>

const million = 1_000_000
const kibi = 1024

/** The saved results of the benchmarks, by id. */
async function savedRows(): Promise<Rows> {
  const { rows } = JSON.parse(await readText(join(root, 'bench/baseline.json')))
  return Array.isArray(rows) ? Object.fromEntries(rows) : rows
}

describe('docs/scaling.md', () => {
  let page: string
  let value: (id: string) => number
  before(async () => {
    page = (await readText(join(root, 'docs/scaling.md'))).replaceAll(/\s+/g, ' ')
    const rows = await savedRows()
    value = id => rows[id]?.value ?? Number.NaN
  })

  const shows = (text: string): void => assert.ok(page.includes(text), `"${text}" is not in the page`)
  const gibi = (kibibytes: number): string => ((kibibytes * million) / kibi ** 2).toFixed(1)

  it('has the figures of the saved benchmarks', () => {
    const [small, large] = [value('workspace-memory-1000'), value('workspace-memory')]
    shows(
      `| ${small.toFixed(1)} KiB | ${large.toFixed(1)} KiB | ${large.toFixed(1)} KiB, ${gibi(large)} GiB in all |`,
    )
    const live = value('workspace-memory-live')
    shows(`| ${live.toFixed(1)} KiB | ${gibi(live)} GiB in all |`)
    shows(
      `| ${value('workspaces-get-1000').toFixed(3)} ms | ${value('workspaces-get-10000').toFixed(3)} ms |`,
    )
    const rate = value('workspace-rate')
    shows(`| ${Math.round(rate)} per second | ${Math.round(million / rate / 60)} minutes |`)
  })

  it('calculates the size of etcd from them', () => {
    const large = value('capacity-etcd')
    shows(`| ${large.toFixed(1)} KiB | | ${gibi(large)} GiB in all |`)
    shows(`each of 1,000 took ${large.toFixed(1)} KiB`)
    shows(`about ${Math.round((2 * kibi ** 2) / large / 1_000)},000 empty workspaces`)
  })

  it('calculates the shards from them', () => {
    const inShard = Math.round((4 * kibi ** 2) / value('workspace-memory') / 1_000)
    shows(`a shard holds about ${inShard},000 of them`)
    assert.equal(Math.ceil(million / (inShard * 1_000)), 7)
  })
})
