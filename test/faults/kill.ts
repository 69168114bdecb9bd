import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openLmdbStore } from '../../shard/store/lmdb/lmdb.ts'
import type { Store, StoreEvent } from '../../shard/store/store.ts'
import { beside } from '../support/source.ts'
import { history, keysPerCommit, laneKeys, lanes, type Said } from './writer.ts'

/** The acknowledged state, over all rounds. */
interface Knowledge {
  /** The newest acknowledged number of each lane. */
  readonly acknowledged: Map<number, number>
  /** The newest acknowledged revision, and how many acknowledgements there were. */
  revision: number
  count: number
  /** The revision after which the watch is resumed after each round. */
  watched: number
}

/** A process that writes until it is killed, numbers from `first` on. */
export const startWriter = (directory: string, first: number) =>
  spawn(process.execPath, [...beside(import.meta, 'writer'), directory, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })

/** Starts a writer, and kills it shortly after its `acks`th acknowledgement. */
async function runAndKill(directory: string, known: Knowledge, acks: number): Promise<void> {
  const first = 1 + Math.max(0, ...known.acknowledged.values()) + 1
  const child = startWriter(directory, first)
  const exited = once(child, 'exit')
  let heard = 0
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.endsWith('}')) continue
    hear(known, JSON.parse(line))
    if (++heard === acks) setTimeout(() => child.kill('SIGKILL'), Math.random() * 5)
  }
  const [, signal] = await exited
  assert.equal(signal, 'SIGKILL', 'the writer ended by itself')
}

function hear(known: Knowledge, said: Said): void {
  if ('opened' in said) {
    assert.ok(said.opened >= known.revision, `opened at ${said.opened} after ack ${known.revision}`)
    return
  }
  known.count++
  known.revision = Math.max(known.revision, said.revision)
  known.acknowledged.set(said.lane, Math.max(said.number, known.acknowledged.get(said.lane) ?? 0))
}

const numberIn = (value: Buffer): number => Number.parseInt(value.toString('latin1', 0, 20), 10)

/** No acknowledged write is lost, and no commit is written in part. */
async function checkValues(store: Store, known: Knowledge): Promise<void> {
  assert.ok(store.revision >= known.revision, `revision ${store.revision} after ack ${known.revision}`)
  for (let lane = 0; lane < lanes; lane++) {
    const values = await Promise.all(laneKeys(lane).map(key => store.get(key)))
    const numbers = new Set(values.map(value => (value === undefined ? 0 : numberIn(value.value))))
    assert.equal(numbers.size, 1, `lane ${lane} is torn: ${[...numbers]}`)
    const [number = 0] = numbers
    const least = known.acknowledged.get(lane) ?? 0
    assert.ok(number >= least, `lane ${lane} has ${number}, acknowledged was ${least}`)
  }
}

/** A resumed watch has every revision once, each with all its keys, and continues each value. */
async function checkWatch(store: Store, known: Knowledge): Promise<void> {
  const stop = new AbortController()
  let expected = known.watched + 1
  while (expected <= store.revision) {
    const { value } = await store.watch('', expected - 1, stop.signal).next()
    assert.ok(value !== undefined, 'the watch ended')
    expected = checkEvents(value, expected)
  }
  stop.abort()
  known.watched = store.revision
}

function checkEvents(events: readonly StoreEvent[], from: number): number {
  let expected = from
  for (let i = 0; i < events.length; i += keysPerCommit) {
    const commit = events.slice(i, i + keysPerCommit)
    assert.deepEqual(new Set(commit.map(event => event.revision)), new Set([expected]))
    const numbers = new Set(commit.map(({ value }) => numberIn(value?.value ?? Buffer.alloc(0))))
    const previous = new Set(commit.map(event => numberIn(event.previous?.value ?? Buffer.from('0'))))
    assert.ok(numbers.size === 1 && previous.size === 1, `revision ${expected} is torn in the log`)
    expected++
  }
  return expected
}

/** Kills a writer `rounds` times at random points, and checks the store after each. Throws when a check fails. */
export async function killLoop(rounds: number): Promise<{ readonly acknowledged: number }> {
  const directory = await mkdtemp(join(tmpdir(), 'oriel-kill-'))
  const known: Knowledge = { acknowledged: new Map(), revision: 0, count: 0, watched: 0 }
  try {
    for (let round = 0; round < rounds; round++) {
      await runAndKill(directory, known, 1 + Math.floor(Math.random() * 1_500))
      const store = await openLmdbStore(directory, history)
      await checkValues(store, known)
      await checkWatch(store, known)
      await store.close()
    }
  } finally {
    await rm(directory, { recursive: true })
  }
  return { acknowledged: known.count }
}

// `node --import tsx test/faults/kill.ts 50`
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rounds = Number(process.argv[2] ?? 50)
  const { acknowledged } = await killLoop(rounds)
  process.stdout.write(
    `${rounds} kills, ${acknowledged} acknowledged commits of ${keysPerCommit} keys: none lost, none torn, no gap, no repeat\n`,
  )
}
