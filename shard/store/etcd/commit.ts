import { setTimeout as sleep } from 'node:timers/promises'
import { checkNames } from '../group.ts'
import { type StoreChange, StoreConflict, StoreError } from '../store.ts'
import type { EtcdAnswer, EtcdConnection } from './connection.ts'
import { failureOf, isFull } from './failures.ts'
import { type Layout, withChecksum } from './layout.ts'
import {
  decodeRange,
  decodeTxn,
  encodeRange,
  encodeTxn,
  type KeyValue,
  type RequestOp,
  type RevisionCompare,
  type TxnResponse,
} from './messages.ts'

/** The etcd of an installation; `offset` is added to its revisions. */
export interface EtcdTarget {
  readonly connection: EtcdConnection
  readonly layout: Layout
  readonly offset: number
}

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
 * Throws `StoreConflict`, and `EtcdFailure`.
 */
export async function commitTo(
  target: EtcdTarget,
  changes: readonly StoreChange[],
): Promise<number | undefined> {
  checkNames(changes)
  if (changes.length > largestCommit)
    throw new StoreError(`a commit to etcd has at most ${largestCommit} changes, not ${changes.length}`)
  const wanted = changes.map(change => etcdChange(target, change))
  const isSmall = wanted.length <= perTransaction
  return isSmall && wanted.every(isSelfContained) ? commitSmall(target, wanted) : commitLocked(target, wanted)
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

async function commitSmall(target: EtcdTarget, changes: readonly EtcdChange[]): Promise<number> {
  const answer = await transact(target, {
    compare: changes.flatMap(compareOf),
    changes,
    failure: changes.map(({ key }) => ({ range: { key } })),
  })
  const { header, succeeded } = answer.response
  return succeeded ? header.revision : earlierAttempt(answer, changes)
}

/**
 * The revision at which an earlier attempt of the same call made the changes, although the connection failed before its
 * response. Throws `StoreConflict` when another writer was faster.
 */
function earlierAttempt(
  { response, isRepeated }: EtcdAnswer<TxnResponse>,
  changes: readonly EtcdChange[],
): number {
  const found = response.ranges.map(({ values: [value] }) => value)
  const isDone = isRepeated && changes.every(({ value }, i) => isSame(found[i]?.value, value))
  if (isDone) return found.find(value => value !== undefined)?.modified ?? response.header.revision
  const differs = changes.find(
    ({ expected }, i) => expected !== undefined && expected !== revisionOf(found[i]),
  )
  throw new StoreConflict((differs ?? changes[0])?.name ?? '')
}

const revisionOf = (value: KeyValue | undefined): number => value?.modified ?? 0

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
    const { response } = await transact(target, { compare, changes: needed, failure: [] })
    if (response.succeeded) return response.header.revision
    await sleep(Math.random() * 10 * attempt)
  }
  throw new StoreConflict(changes[0]?.name ?? '')
}

/** The revision of the newest commit, and the one at which it was read; `modified` is 0 when the key is missing. */
export async function headOf({ connection, layout }: EtcdTarget): Promise<{ modified: number; at: number }> {
  const { response } = await connection.call({
    path: '/etcdserverpb.KV/Range',
    request: encodeRange({ key: layout.head }),
    decode: decodeRange,
  })
  return { modified: response.values[0]?.modified ?? 0, at: response.header.revision }
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
  { connection, layout: { head } }: EtcdTarget,
  { compare, changes, failure }: Transaction,
): Promise<EtcdAnswer<TxnResponse>> {
  const ops = grouped(changes.map(opOf))
  const send = (last: RequestOp) => {
    const request = encodeTxn({ compare, success: [...ops, last], failure })
    return connection.call({ path: '/etcdserverpb.KV/Txn', request, decode: decodeTxn })
  }
  try {
    return await send({ put: { key: head, value: Buffer.alloc(0) } })
  } catch (error) {
    if (!isFull(failureOf(error)) || changes.some(({ value }) => value !== undefined)) throw error
    return send({ remove: head })
  }
}

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
