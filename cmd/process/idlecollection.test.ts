import assert from 'node:assert/strict'
import { run } from '../../test/support/oriel.ts'
import { beside } from '../../test/support/source.ts'

const mebi = 1024 * 1024

/** Makes 100 MiB of garbage in the old generation, and prints how much of it is left when it was collected, or after 200 turns of work. */
const program = (module: string, work: string): string => `
  const { collectWhenIdle, garbageCollector } = await import(${module})
  const { getHeapStatistics } = await import('node:v8')
  const used = () => getHeapStatistics().used_heap_size
  const before = used()
  let collections = 0
  const collector = () => {
    const collect = garbageCollector()
    return () => { collections++; collect() }
  }
  collectWhenIdle(new AbortController().signal, { interval: 20, collector })
  let kept = Array.from({ length: 1_000_000 }, (_, i) => ({ number: i, list: [i] }))
  const peak = used() - before
  kept = undefined
  let turns = 0
  const work = () => { for (const end = performance.now() + 4; performance.now() < end; ); }
  const timer = setInterval(() => {
    ${work}
    if (collections === 0 && ++turns < 200) return
    clearInterval(timer)
    console.log(JSON.stringify({ collections, peak, left: used() - before }))
  }, 5)`

interface Printed {
  readonly collections: number
  readonly peak: number
  readonly left: number
}

async function printed(work: string): Promise<Printed> {
  const module = JSON.stringify(beside(import.meta, 'idlecollection').at(-1))
  const options = [...process.execArgv, '--input-type=module', '--eval', program(module, work)]
  const { stdout, stderr } = await run(process.execPath, options)
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

describe('collectWhenIdle', () => {
  it('collects the garbage of an idle process', async () => {
    const { collections, peak, left } = await printed('')
    assert.equal(collections, 1)
    assert.ok(peak > 50 * mebi, `${peak}`)
    assert.ok(left < peak / 4, `${left} of ${peak}`)
  })

  it('leaves a busy process to V8', async () => {
    assert.equal((await printed('work()')).collections, 0)
  })
})
