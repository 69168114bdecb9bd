import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkNames } from '../group.ts'
import { type StoreChange, StoreConflict, StoreError } from '../store.ts'
import type { EtcdAnswer } from './connection.ts'
import { failureOf, isFull } from './failures.ts'
import { checkRecord, type EtcdTarget, headOf, revisionOf } from './head.ts'
import { withChecksum } from './layout.ts'
import {
  decodeRange,
  decodeTxn,
  encodeRange,
  encodeTxn,
  type RangeResponse,
  type RequestOp,
  type RevisionCompare,
  type TxnResponse,
} from './messages.ts'

/** A change with its key and value in etcd, and the `mod_revision` that it replaces. */
interface EtcdChange {
  readonly name: string
  readonly key: Buffer
  /** Absent: the key is removed. */
  readonly value?: Buffer
  readonly expected?: number
}

/** What is written to etcd by one commit. */
interface Write {
  readonly changes: readonly EtcdChange[]
  /** The value of the head, which identifies the commit. */
  readonly id: Buffer
  /** A revision of etcd before the first attempt. */
  readonly known: number
}

/** Ends the attempts of a commit: an earlier one was made. */
class AlreadyMade extends StoreError {
  readonly revision: number
  constructor(revision: number) {
    super(`the commit was made at revision ${revision}`)
    this.revision = revision
  }
}

/** A transaction has at most 128 operations (`--max-txn-ops`), but may contain transactions. */
const perTransaction = 60
const largestCommit = perTransaction * perTransaction

/** Attempts of a large commit, which any other commit interrupts. */
const attempts = 100

/**
 * Applies all changes or none; returns the `mod_revision` of the changed keys, or undefined when there was nothing to change.
 * `known`: a revision of etcd before this call. Throws `StoreConflict`, and `EtcdFailure`.
 */
export async function commitTo(
  target: EtcdTarget,
  changes: readonly StoreChange[],
  known: number,
): Promise<number | undefined> {
  checkNames(changes)
  if (changes.length > largestCommit)
    throw new StoreError(`a commit to etcd has at most ${largestCommit} changes, not ${changes.length}`)
  const wanted = changes.map(change => etcdChange(target, change))
  const write = { changes: wanted, id: Buffer.from(randomUUID()), known }
  const isSmall = wanted.length <= perTransaction && wanted.every(isSelfContained)
  try {
    return await (isSmall ? commitSmall(target, write) : commitLocked(target, write))
  } catch (error) {
    if (error instanceof AlreadyMade) return error.revision
    throw error
  }
}

function etcdChange({ layout, offset }: EtcdTarget, { key: name, value, expected }: StoreChange): EtcdChange {
  const key = layout.keyOf(name)
  return {
    name,
    key,
    ...(value !== undefined && { value: withChecksum(key, value) }),
    ...(expected !== undefined && { expected: expected === 0 ? 0 : expected - offset }),
  }
}

/** Whether a transaction that compares `expected` changes something whenever it succeeds. */
const isSelfContained = ({ value, expected }: EtcdChange): boolean =>
  value !== undefined || (expected ?? 0) !== 0

const compareOf = ({ key, expected }: EtcdChange): readonly RevisionCompare[] =>
  expected === undefined ? [] : [{ key, revision: expected }]

const opOf = ({ key, value }: EtcdChange): RequestOp =>
  value === undefined ? { remove: key } : { put: { key, value } }

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
  { changes, id }: Write,
  more: readonly RevisionCompare[],
): Transaction => ({
  compare: [...more, ...changes.flatMap(compareOf)],
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

function conflict(ranges: readonly RangeResponse[], { changes }: Write): never {
  const differs = changes.find(
    ({ expected }, i) => expected !== undefined && expected !== revisionOf(ranges[i]?.values[0]),
  )
  throw new StoreConflict((differs ?? changes[0])?.name ?? '')
}

const isSame = (found: Buffer | undefined, wanted: Buffer | undefined): boolean =>
  found === undefined || wanted === undefined ? found === wanted : found.equals(wanted)

/** Checks the conditions at a revision, and commits if there was no other commit since then. */
async function commitLocked(target: EtcdTarget, write: Write): Promise<number | undefined> {
  const { layout } = target
  for (let attempt = 0; attempt < attempts; attempt++) {
    const head = await headOf(target)
    const changes = await effective(target, write.changes, head.at)
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
  { connection }: EtcdTarget,
  changes: readonly EtcdChange[],
  at: number,
): Promise<readonly EtcdChange[]> {
  const kept: EtcdChange[] = []
  await Promise.all(
    changes.map(async change => {
      if (change.value !== undefined && change.expected === undefined) return kept.push(change)
      const request = encodeRange({ key: change.key, revision: at, keysOnly: true })
      const call = { path: '/etcdserverpb.KV/Range', request, decode: decodeRange }
      const [found] = (await connection.call(call)).response.values
      if (change.expected !== undefined && change.expected !== revisionOf(found))
        throw new StoreConflict(change.name)
      return found === undefined && change.value === undefined ? kept.length : kept.push(change)
    }),
  )
  return kept
}

interface Transaction {
  readonly compare: readonly RevisionCompare[]
  readonly changes: readonly EtcdChange[]
  readonly failure: readonly RequestOp[]
  /** The value of the head. */
  readonly id: Buffer
}

/** Every commit writes the head. A full etcd refuses that: deletions then remove the head. */
async function transact(
  target: EtcdTarget,
  transaction: Transaction,
  again?: () => Promise<Transaction>,
): Promise<EtcdAnswer<TxnResponse>> {
  const { connection, layout } = target
  const send = (last: RequestOp) => {
    const request = requestOf(target, transaction, last)
    const repeated = again && { again: async () => requestOf(target, await again(), last) }
    return connection.call({ path: '/etcdserverpb.KV/Txn', request, decode: decodeTxn, ...repeated })
  }
  try {
    return await send({ put: { key: layout.head, value: transaction.id } })
  } catch (error) {
    const isDeletion = transaction.changes.every(({ value }) => value === undefined)
    if (!isFull(failureOf(error)) || !isDeletion) throw error
    return send({ remove: layout.head })
  }
}

/** A commit is only made in the epoch of the server. */
const requestOf = (
  { layout: { installation }, record }: EtcdTarget,
  { compare, changes, failure }: Transaction,
  last: RequestOp,
): Buffer =>
  encodeTxn({
    compare: [{ key: installation, value: record }, ...compare],
    success: [...grouped(changes.map(opOf)), last],
    failure,
  })

/** Puts operations beyond the limit of a transaction into transactions within it. */
function grouped(ops: readonly RequestOp[]): readonly RequestOp[] {
  if (ops.length <= perTransaction) return ops
  const groups = Math.ceil(ops.length / perTransaction)
  return Array.from({ length: groups }, (_, i) => ({
    txn: {
      compare: [],
      success: ops.slice(i * perTransaction, (i + 1) * perTransaction),
      failure: [],
    },
  }))
}
