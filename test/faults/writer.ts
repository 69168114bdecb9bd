import { openLmdbStore } from '../../shard/store/lmdb/lmdb.ts'

/** Every commit writes one number to this many keys: a partial commit would have two numbers. */
export const keysPerCommit = 3
export const lanes = 16

/** Long enough to resume a watch after each kill, short enough to be compacted within a loop. */
export const history = { commits: 20_000 }

/** The keys of one lane, overwritten by each of its commits. */
export const laneKeys = (lane: number): readonly string[] =>
  Array.from({ length: keysPerCommit }, (_, i) => `/lanes/${lane}/${i}`)

/** A line of the writer: it opened the store; commit `number` of `lane` was acknowledged at `revision`. */
export type Said =
  | { readonly opened: number }
  | { readonly lane: number; readonly number: number; readonly revision: number }

const say = (said: Said): void => void process.stdout.write(`${JSON.stringify(said)}\n`)

/** Writes increasing numbers until it is killed, on all lanes concurrently, with large values among them. */
async function write(directory: string, first: number): Promise<void> {
  const store = await openLmdbStore(directory, history)
  say({ opened: store.revision })
  const lane = async (lane: number): Promise<void> => {
    for (let number = first; ; number++) {
      const value = Buffer.from(`${number} ${'.'.repeat(number % 50 === 0 ? 20_000 : 200)}`)
      const revision = await store.commit(laneKeys(lane).map(key => ({ key, value })))
      say({ lane, number, revision })
      if (number % 500 === 0) void store.compact(revision - 10_000)
    }
  }
  await Promise.all(Array.from({ length: lanes }, (_, i) => lane(i)))
}

const [directory, first] = process.argv.slice(2)
if (directory !== undefined && first !== undefined && process.argv[1]?.includes('writer'))
  await write(directory, Number(first))
