import { StoreError } from '../store.ts'
import type { EtcdAnswer } from './connection.ts'
import { EpochEnded } from './epochended.ts'
import { failureOf, isFull } from './failures.ts'
import type { EtcdTarget } from './head.ts'
import { decodeTxn, encodeTxn, type RequestOp, type RevisionCompare, type TxnResponse } from './messages.ts'

/** The `mod_revision` that a key in etcd must have; absent: any. */
export interface EtcdCondition {
  readonly name: string
  readonly key: Buffer
  readonly expected?: number
}

/** A change with its key and value in etcd, and the `mod_revision` that it replaces. */
export interface EtcdChange extends EtcdCondition {
  /** Absent: the key is removed. */
  readonly value?: Buffer
}

/** A transaction has at most 128 operations (`--max-txn-ops`), but may contain transactions. */
export const perTransaction = 60

export const compareOf = ({ key, expected }: EtcdCondition): readonly RevisionCompare[] =>
  expected === undefined ? [] : [{ key, revision: expected }]

const opOf = ({ key, value }: EtcdChange): RequestOp =>
  value === undefined ? { remove: key } : { put: { key, value } }

export interface Transaction {
  readonly compare: readonly RevisionCompare[]
  readonly changes: readonly EtcdChange[]
  readonly failure: readonly RequestOp[]
  /** The value of the head. */
  readonly id: Buffer
}

/** Ends the attempts of a commit: an earlier one was made. */
export class AlreadyMade extends StoreError {
  readonly revision: number
  constructor(revision: number) {
    super(`the commit was made at revision ${revision}`)
    this.revision = revision
  }
}

/**
 * Every commit writes the head. A full etcd refuses that: deletions then remove the head. With a commit that exceeds its quota, etcd
 * makes it, and refuses it (`quotaApplierV3.Txn`): throws `AlreadyMade`, unless the commit log of the full etcd does not tell. Throws
 * `EpochEnded` when it was made below a commit that was known before.
 */
export async function transact(
  target: EtcdTarget,
  transaction: Transaction,
  again?: () => Promise<Transaction>,
): Promise<EtcdAnswer<TxnResponse>> {
  const { connection, layout, seen, commits } = target
  const known = seen.revision
  const send = async (last: RequestOp) => {
    const request = requestOf(target, transaction, last)
    const repeated = again && { again: async () => requestOf(target, await again(), last) }
    const call = { path: '/etcdserverpb.KV/Txn', request, decode: decodeTxn, ...repeated }
    const answer = await connection.call(call)
    const { succeeded, header } = answer.response
    if (!succeeded) return answer
    if (header.revision <= known) throw new EpochEnded()
    seen.note({ modified: header.revision, id: last.put?.value.toString('hex') ?? '' })
    return answer
  }
  try {
    return await send({ put: { key: layout.head, value: transaction.id } })
  } catch (error) {
    if (!isFull(failureOf(error))) throw error
    const made = await commits.revisionOf(transaction.id, known).catch(() => undefined)
    if (made !== undefined) throw new AlreadyMade(made)
    if (transaction.changes.some(({ value }) => value !== undefined)) throw error
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
