import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Operation } from '../faults/history.ts'
import { disturbReplicas } from '../faults/replicas.ts'
import { type Outcome, run } from '../support/oriel.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/** The result of porcupine, as a program of this folder. */
async function check(operations: readonly Operation[]): Promise<Outcome> {
  const file = join(await temporaryDirectory('history'), 'history.json')
  await writeFile(file, JSON.stringify(operations))
  return run('go', ['run', '.', file], { cwd: import.meta.dirname })
}

const write = (value: string, begun: number, ended?: number): Operation => ({
  client: 0,
  kind: 'write',
  key: 'a',
  value,
  begun,
  ...(ended !== undefined && { ended }),
})

const read = (value: string, begun: number, ended: number): Operation => ({
  client: 1,
  kind: 'read',
  key: 'a',
  value,
  begun,
  ended,
})

describe('porcupine', function () {
  this.timeout(600_000)

  it('finds a read that goes back', async () => {
    const { code, stdout } = await check([
      write('1', 0, 1),
      write('2', 2, 3),
      read('2', 4, 5),
      read('1', 6, 7),
    ])
    assert.deepEqual([code, stdout], [1, 'a: 4 operations: Illegal\n'])
  })

  it('lets a write with an unknown outcome be executed later, or never', async () => {
    const { code, stdout } = await check([write('1', 0), read('', 2, 3), read('1', 4, 5), write('2', 6)])
    assert.deepEqual([code, stdout], [0, '4 operations on 1 keys: linearizable\n'])
  })

  it('decides about many writes with unknown outcomes, whatever the other operations are', async () => {
    const unknown = Array.from({ length: 60 }, (_, i) => write(`unknown-${i}`, i))
    const seen = [
      read('unknown-7', 104, 105),
      write('1', 106, 107),
      write('2', 108, 109),
      read('2', 110, 111),
    ]
    const right = await check([...unknown, write('0', 100, 101), ...seen])
    assert.deepEqual([right.code, right.stdout], [0, '65 operations on 1 keys: linearizable\n'])
    const early = await check([read('later', 1, 2), write('later', 3)])
    assert.deepEqual([early.code, early.stdout], [1, 'a: 2 operations: Illegal\n'])
    for (const late of ['1', 'unknown-7']) {
      const { code, stdout } = await check([...unknown, ...seen, read(late, 112, 113)])
      assert.deepEqual([code, stdout], [1, 'a: 65 operations: Illegal\n'])
    }
  })

  it('finds the reads and writes linearizable while servers and members of etcd are killed', async () => {
    const { operations } = await disturbReplicas({ kills: 10, every: 4, longest: 2_000 })
    const { code, stdout, stderr } = await check(operations)
    assert.equal(code, 0, stdout + stderr)
  })
})
