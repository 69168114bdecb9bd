import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { status } from '@grpc/grpc-js'
import { checkNames } from '../group.ts'
import { type StoreChange, StoreConflict, StoreError } from '../store.ts'
import type { EtcdAnswer } from './connection.ts'
import { EtcdFailure, failureOf, isFull } from './failures.ts'
import { checkRecord, type EtcdTarget, headOf, revisionOf } from './head.ts'
import { withChecksum } from './layout.ts'
import {
  decodeRange,
  decodeTxn,
  encodeRange,
  encodeTxn,
  type KeyValue,
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
  const isSmall = wanted.length <= perTransaction
  return isSmall && wanted.every(isSelfContained)
    ? commitSmall(target, wanted, known)
    : commitLocked(target, wanted)
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

async function commitSmall(
  target: EtcdTarget,
  changes: readonly EtcdChange[],
  known: number,
): Promise<number> {
  const fenced = changes.some(({ expected = 0 }) => expected === 0)
  for (let wasRepeated = false; ; ) {
    const { answer, fence } = await (fenced ? attemptFenced(target, changes) : attemptPlain(target, changes))
    const { header, succeeded, ranges } = answer.response
    if (succeeded) return header.revision
    const [installation, raised] = ranges.map(({ values: [value] }) => value)
    checkRecord(target, installation)
    wasRepeated ||= answer.isRepeated
    if (!fenced || revisionOf(raised) === fence)
      return earlierAttempt(ranges.slice(2), changes, wasRepeated ? known : undefined)
    target.fence.follow(revisionOf(raised))
  }
}

/** A change that replaces a revision is made at most once, however often it is sent. */
const attemptPlain = async (target: EtcdTarget, changes: readonly EtcdChange[]): Promise<Attempt> => ({
  answer: await transact(target, smallTransaction(target, changes, [])),
  fence: 0,
})

async function attemptFenced(target: EtcdTarget, changes: readonly EtcdChange[]): Promise<Attempt> {
  const { fence } = target
  let compared = fence.revision
  const current = (): Transaction =>
    smallTransaction(target, changes, [{ key: fence.key, revision: compared }])
  const answer = await transact(target, current(), async () => {
    await fence.raise()
    compared = fence.revision
    return current()
  })
  return { answer, fence: compared }
}

/** When it fails, its first two ranges are the installation and the fence; the others are those of the changes. */
const smallTransaction = (
  { layout: { installation }, fence }: EtcdTarget,
  changes: readonly EtcdChange[],
  more: readonly RevisionCompare[],
): Transaction => ({
  compare: [...more, ...changes.flatMap(compareOf)],
  changes,
  failure: [installation, fence.key, ...changes.map(({ key }) => key)].map(key => ({ range: { key } })),
})

/**
 * The revision at which an earlier attempt of the same call made the changes, although the connection failed before its
 * response. `known`: a revision before the first attempt; undefined: there was one only. Throws `StoreConflict` when another writer
 * was faster, and `EtcdFailure` when it may have overwritten what an earlier attempt wrote.
 */
function earlierAttempt(
  ranges: readonly RangeResponse[],
  changes: readonly EtcdChange[],
  known: number | undefined,
): number {
  const found = ranges.map(({ values: [value] }) => value)
  const isDone = known !== undefined && changes.every(({ value }, i) => isSame(found[i]?.value, value))
  if (isDone) return found.find(value => value !== undefined)?.modified ?? ranges[0]?.header.revision ?? 0
  const differs = changes.find(
    ({ expected }, i) => expected !== undefined && expected !== revisionOf(found[i]),
  )
  if (known !== undefined && found.some(value => isLater(value, known))) throw overwritten()
  throw new StoreConflict((differs ?? changes[0])?.name ?? '')
}

/** Also true for a key that is missing: it may have been removed later. */
const isLater = (value: KeyValue | undefined, known: number): boolean =>
  value === undefined || value.modified > known

/** A conflict would let the caller write again what may have been written. */
const overwritten = (): EtcdFailure =>
  new EtcdFailure(status.DEADLINE_EXCEEDED, 'another writer has changed the object since the first attempt')

const rangeOf = ({ key }: EtcdChange): RequestOp => ({ range: { key } })

const isSame = (found: Buffer | undefined, wanted: Buffer | undefined): boolean =>
  found === undefined || wanted === undefined ? found === wanted : found.equals(wanted)

/** Checks the conditions at a revision, and commits if there was no other commit since then. */
async function commitLocked(target: EtcdTarget, changes: readonly EtcdChange[]): Promise<number | undefined> {
  const { layout } = target
  for (let attempt = 0; attempt < attempts; attempt++) {
    const head = await headOf(target)
    const needed = await effective(target, changes, head.at)
    if (needed.length === 0) return undefined
    const compare = [{ key: layout.head, revision: head.modified }]
    const failure = [{ range: { key: layout.installation } }, ...needed.slice(0, 1).map(rangeOf)]
    const { response, isRepeated } = await transact(target, { compare, changes: needed, failure })
    if (response.succeeded) return response.header.revision
    const [installation, first] = response.ranges.map(({ values: [value] }) => value)
    checkRecord(target, installation)
    // All changes were made if the first was.
    const isDone = isRepeated && revisionOf(first) > head.at && isSame(first?.value, needed[0]?.value)
    if (isDone) return revisionOf(first)
    await sleep(Math.random() * 10 * attempt)
  }
  throw new StoreConflict(changes[0]?.name ?? '')
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
    return await send({ put: { key: layout.head, value: Buffer.from(randomUUID()) } })
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
