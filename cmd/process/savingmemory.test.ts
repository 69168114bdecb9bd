import assert from 'node:assert/strict'
import { run } from '../../test/support/oriel.ts'
import { beside } from '../../test/support/source.ts'

/** Allocates short-lived objects, and prints the size of the young generation in bytes after them. */
const burst = `
  const { getHeapSpaceStatistics } = await import('node:v8')
  const size = () => getHeapSpaceStatistics().find(each => each.space_name === 'new_space').space_size
  let kept = []
  for (let i = 0; i < 2_000_000; i++) {
    kept.push({ number: i, list: [i] })
    if (kept.length > 200_000) kept = kept.slice(100_000)
  }
  console.log(size())`

/** The size in a process that runs `beginning` first. */
async function sizeAfter(beginning: string): Promise<number> {
  const options = [...process.execArgv, '--input-type=module', '--eval', `${beginning};${burst}`]
  const { stdout, stderr } = await run(process.execPath, options)
  assert.equal(stderr, '')
  return Number(stdout)
}

describe('saveMemory', () => {
  it('sets valid flags of V8, and keeps the young generation from growing', async () => {
    const module = JSON.stringify(beside(import.meta, 'savingmemory').at(-1))
    const [free, saving] = await Promise.all([
      sizeAfter(''),
      sizeAfter(`const { saveMemory } = await import(${module}); saveMemory()`),
    ])
    assert.ok(free >= 4 * saving, `${saving} instead of ${free}`)
  })
})
