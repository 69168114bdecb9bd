import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkNames } from '../group.ts'
import { type StoreChange, type StoreCondition, StoreConflict, StoreError } from '../store.ts'
import type { EtcdAnswer } from './connection.ts'
import { checkRecord, type EtcdTarget, headOf, revisionOf } from './head.ts'
import { withChecksum } from './layout.ts'
import {
  decodeRange,
  encodeRange,
  type RangeResponse,
  type RevisionCompare,
  type TxnResponse,
} from './messages.ts'
import {
  AlreadyMade,
  compareOf,
  type EtcdChange,
  type EtcdCondition,
  perTransaction,
  type Transaction,
  transact,
} from './transaction.ts'

/** What is written to etcd by one commit. */
interface Write {
  readonly changes: readonly EtcdChange[]
  /** Of keys that it does not change. */
  readonly conditions: readonly EtcdCondition[]
  /** The value of the head, which identifies the commit. */
  readonly id: Buffer
  /** A revision of etcd before the first attempt. */
  readonly known: number
}

const largestCommit = perTransaction * perTransaction

/** Attempts of a large commit, which any other commit interrupts. */
const attempts = 100

/** A commit as the store gets it. */
interface Wanted {
  readonly changes: readonly StoreChange[]
  readonly conditions: readonly StoreCondition[]
}

/**
 * Applies all changes or none; returns the `mod_revision` of the changed keys, or undefined when there was nothing to change.
 * `known`: a revision of etcd before this call. Throws `StoreConflict`, and `EtcdFailure`.
 */
export async function commitTo(
  target: EtcdTarget,
  wanted: Wanted,
  known: number,
): Promise<number | undefined> {
  const { changes } = wanted
  checkNames(changes)
  if (changes.length > largestCommit)
    throw new StoreError(`a commit to etcd has at most ${largestCommit} changes, not ${changes.length}`)
  const write = {
    changes: changes.map(change => etcdChange(target, change)),
    conditions: wanted.conditions.map(condition => etcdCondition(target, condition)),
    id: Buffer.from(randomUUID()),
    known,
  }
  try {
    return await (isSmall(write) ? commitSmall(target, write) : commitLocked(target, write))
  } catch (error) {
    if (error instanceof AlreadyMade) return error.revision
    throw error
  }
}

function etcdCondition(
  { layout, offset }: EtcdTarget,
  { key: name, expected }: Pick<StoreChange, 'key' | 'expected'>,
): EtcdCondition {
  const key = layout.keyOf(name)
  return { name, key, ...(expected !== undefined && { expected: expected === 0 ? 0 : expected - offset }) }
}

function etcdChange(target: EtcdTarget, change: StoreChange): EtcdChange {
  const condition = etcdCondition(target, change)
  const { value } = change
  return { ...condition, ...(value !== undefined && { value: withChecksum(condition.key, value) }) }
}

/** Whether one transaction without others in it makes the commit. */
const isSmall = ({ changes, conditions }: Write): boolean =>
  changes.length + conditions.length <= perTransaction && changes.every(isSelfContained)

/** Whether a transaction that compares `expected` changes something whenever it succeeds. */
const isSelfContained = ({ value, expected }: EtcdChange): boolean =>
  value !== undefined || (expected ?? 0) !== 0

/** The conditions and the result of one attempt. */
interface Attempt {
  readonly answer: EtcdAnswer<TxnResponse>
  /** The revision of the fence that was compared. */
  readonly fence: number
}

async function commitSmall(target: EtcdTarget, write: Write): Promise<number> {
  const fenced = write.changes.some(({ expected = 0 }) => expected === 0)
  for (let wasRepeated = false; ; ) {
    const { answer, fence } = await (fenced ? attemptFenced(target, write) : attemptPlain(target, write))
    const { header, succeeded, ranges } = answer.response
    if (succeeded) return header.revision
    const [installation, raised] = ranges.map(({ values: [value] }) => value)
    checkRecord(target, installation)
    wasRepeated ||= answer.isRepeated
    if (fenced && revisionOf(raised) !== fence) target.fence.follow(revisionOf(raised))
    else
      return wasRepeated ? earlierAttempt(target, write, ranges.slice(2)) : conflict(ranges.slice(2), write)
  }
}

/** A change that replaces a revision is made at most once, however often it is sent. */
const attemptPlain = async (target: EtcdTarget, write: Write): Promise<Attempt> => ({
  answer: await transact(target, smallTransaction(target, write, [])),
  fence: 0,
})

/** Other changes could be made again after somebody has undone them: before each repeat, the commit log tells whether they were made. */
async function attemptFenced(target: EtcdTarget, write: Write): Promise<Attempt> {
  const { fence } = target
  let compared = fence.revision
  const current = (): Transaction => smallTransaction(target, write, [{ key: fence.key, revision: compared }])
  const answer = await transact(target, current(), async () => {
    await fence.raise()
    await checkNotMade(target, write)
    compared = fence.revision
    return current()
  })
  return { answer, fence: compared }
}

/** Throws `AlreadyMade`; `EtcdFailure` when it is unknown. To be called when no earlier attempt can be made any more. */
async function checkNotMade({ commits }: EtcdTarget, { id, known }: Write): Promise<void> {
  const made = await commits.revisionOf(id, known)
  if (made !== undefined) throw new AlreadyMade(made)
}

/** When it fails, its first two ranges are the installation and the fence; the others are those of the changes. */
const smallTransaction = (
  { layout: { installation }, fence }: EtcdTarget,
  { changes, conditions, id }: Write,
  more: readonly RevisionCompare[],
): Transaction => ({
  compare: [...more, ...[...changes, ...conditions].flatMap(compareOf)],
  changes,
  id,
  failure: [installation, fence.key, ...changes.map(({ key }) => key)].map(key => ({ range: { key } })),
})

/**
 * The revision at which an earlier attempt of the same call made the changes, although the connection failed before its
 * response. Throws `StoreConflict` when another writer was faster, and `EtcdFailure` when it is unknown.
 */
async function earlierAttempt(
  target: EtcdTarget,
  write: Write,
  ranges: readonly RangeResponse[],
): Promise<number> {
  const found = ranges.map(({ values: [value] }) => value)
  const isDone = write.changes.every(({ value }, i) => isSame(found[i]?.value, value))
  if (isDone) return found.find(value => value !== undefined)?.modified ?? ranges[0]?.header.revision ?? 0
  // A conflict would let the caller write again what was written and then overwritten.
  await checkNotMade(target, write)
  return conflict(ranges, write)
}

/** Conditions are not read: one of them does not hold when all changes are at their revisions. */
function conflict(ranges: readonly RangeResponse[], { changes, conditions }: Write): never {
  const differs = changes.find(
    ({ expected }, i) => expected !== undefined && expected !== revisionOf(ranges[i]?.values[0]),
  )
  throw new StoreConflict((differs ?? conditions[0] ?? changes[0])?.name ?? '')
}

const isSame = (found: Buffer | undefined, wanted: Buffer | undefined): boolean =>
  found === undefined || wanted === undefined ? found === wanted : found.equals(wanted)

/** Checks the conditions at a revision, and commits if there was no other commit since then. */
async function commitLocked(target: EtcdTarget, write: Write): Promise<number | undefined> {
  const { layout } = target
  for (let attempt = 0; attempt < attempts; attempt++) {
    const head = await headOf(target)
    const changes = await effective(target, write, head.at)
    if (changes.length === 0) return undefined
    const compare = [{ key: layout.head, revision: head.modified }]
    const failure = [{ range: { key: layout.installation } }]
    const { response, isRepeated } = await transact(target, { compare, changes, failure, id: write.id })
    if (response.succeeded) return response.header.revision
    checkRecord(target, response.ranges[0]?.values[0])
    if (isRepeated) await checkNotMade(target, write)
    await sleep(Math.random() * 10 * attempt)
  }
  throw new StoreConflict(write.changes[0]?.name ?? '')
}

/** The changes without deletions of missing keys. Throws `StoreConflict` for a key that is not at its revision. */
async function effective(
  target: EtcdTarget,
  { changes, conditions }: Write,
  at: number,
): Promise<readonly EtcdChange[]> {
  const kept: EtcdChange[] = []
  await Promise.all([
    ...conditions.map(condition => isThere(target, condition, at)),
    ...changes.map(async change => {
      const { value, expected } = change
      if (value !== undefined && expected === undefined) return kept.push(change)
      const isMissing = !(await isThere(target, change, at))
      return isMissing && value === undefined ? kept.length : kept.push(change)
    }),
  ])
  return kept
}

/** Whether there is a key at a revision of etcd. Throws `StoreConflict` when it is not at its own revision. */
async function isThere(
  { connection }: EtcdTarget,
  { name, key, expected }: EtcdCondition,
  at: number,
): Promise<boolean> {
  const request = encodeRange({ key, revision: at, keysOnly: true })
  const call = { path: '/etcdserverpb.KV/Range', request, decode: decodeRange }
  const [found] = (await connection.call(call)).response.values
  if (expected !== undefined && expected !== revisionOf(found)) throw new StoreConflict(name)
  return found !== undefined
}
