import { status } from '@grpc/grpc-js'
import { StatusError } from '../../../framework/meta/errors.ts'
import { CommitTooLarge, StoreError } from '../store.ts'

/** A failed call of etcd: the code of gRPC, and etcd's text. */
export class EtcdFailure extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

interface GrpcError {
  readonly code?: unknown
  readonly details?: unknown
}

export function failureOf(error: unknown): EtcdFailure {
  if (error instanceof EtcdFailure) return error
  const { code, details } = (error ?? {}) as GrpcError
  const text = typeof details === 'string' && details !== '' ? withoutFrame(details) : String(error)
  return new EtcdFailure(typeof code === 'number' ? code : status.UNKNOWN, text)
}

/** The reason alone, where grpc-js has put it into a sentence of its own (`load-balancer-pick-first.ts`). */
const withoutFrame = (details: string): string =>
  details.replace(/^No connection established\. Last error: (?:Error: )?(.*?)\. Resolution note: .*$/s, '$1')

/** Raft has another leader now (`ErrProposalDropped`, which has no code), or more requests than it applies (`ErrTooManyRequests`). */
const isNotProposed = ({ message }: EtcdFailure): boolean =>
  message === 'raft proposal dropped' || message === 'etcdserver: too many requests'

const transient: readonly number[] = [status.UNAVAILABLE, status.DEADLINE_EXCEEDED, status.CANCELLED]

/** Whether another attempt, or another member, may succeed: no connection, no leader, no answer in time. */
export const isTransient = (failure: EtcdFailure): boolean =>
  transient.includes(failure.code) || isNotProposed(failure)

export const isTimeout = ({ code }: EtcdFailure): boolean => code === status.DEADLINE_EXCEEDED

/**
 * Whether another token is needed: `ErrGRPCInvalidAuthToken`, and `ErrGRPCAuthOldRevision`, after which a signed token is not valid
 * because an administrator has changed the users of etcd (`shouldRefreshToken` of etcd's client).
 */
export const isOldToken = ({ code, message }: EtcdFailure): boolean =>
  code === status.UNAUTHENTICATED || message.includes('revision of auth store is old')

/** `ErrGRPCCompacted` of `api/v3rpc/rpctypes` */
export const isCompacted = ({ message }: EtcdFailure): boolean =>
  message.includes('required revision has been compacted')

/** `ErrGRPCNoSpace`: the database has reached its quota, and etcd refuses puts. */
export const isFull = ({ message }: EtcdFailure): boolean => message.includes('database space exceeded')

const isTooLarge = ({ message }: EtcdFailure): boolean =>
  message.includes('request is too large') || message.includes('larger than max')

const noAnswer = 'etcd did not answer in time'

/** What a client gets for a read that failed. */
export function readError(failure: EtcdFailure): Error {
  if (isTransient(failure))
    return new StatusError(503, 'ServiceUnavailable', `${noAnswer}: ${failure.message}`, {
      retryAfterSeconds: 1,
    })
  return new StoreError(`etcd refused a read: ${failure.message}`)
}

/**
 * What a client gets for a write that failed. 504 without Retry-After when the write may have been executed; 507 when
 * etcd is full.
 */
export function writeError(failure: EtcdFailure): Error {
  if (isTransient(failure))
    return new StatusError(
      504,
      'Timeout',
      `${noAnswer}, so that it is unknown whether the write was made: ${failure.message}`,
    )
  if (isFull(failure))
    return new StatusError(
      507,
      'InsufficientStorage',
      'etcd has reached its quota (mvcc: database space exceeded): only deletions are accepted until an ' +
        'administrator compacts and defragments etcd and disarms its alarm',
    )
  if (isTooLarge(failure)) return new CommitTooLarge()
  return new StoreError(`etcd refused a write: ${failure.message}`)
}

/** One sentence for the operator, when the store cannot be opened. */
export function openError(failure: EtcdFailure, endpoints: readonly string[]): Error {
  const where = `etcd at ${endpoints.join(', ')}`
  if (failure.code === status.UNAUTHENTICATED || failure.code === status.INVALID_ARGUMENT)
    return new StoreError(
      `${where} refused the credentials: ${failure.message}. Check --etcd-user and --etcd-password-file.`,
    )
  if (failure.code === status.PERMISSION_DENIED)
    return new StoreError(
      `${where} denied access: ${failure.message}. Grant the user the role with read and write access to --etcd-prefix.`,
    )
  if (isTransient(failure)) return new StoreError(`${where} is not reachable: ${failure.message}`)
  return new StoreError(`${where} cannot be used: ${failure.message}`)
}
