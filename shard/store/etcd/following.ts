import { setTimeout as sleep } from 'node:timers/promises'
import { status } from '@grpc/grpc-js'
import { StoreError } from '../store.ts'
import type { EtcdConnection, EtcdWatch } from './connection.ts'
import { EtcdFailure, failureOf, isOldToken, isTransient } from './failures.ts'
import { type EtcdEvent, encodeWatch } from './messages.ts'

/** Revisions up to `revision` of etcd are compacted. */
export class EtcdCompacted extends Error {
  readonly revision: number
  constructor(revision: number) {
    super(`etcd has compacted revisions up to ${revision}`)
    this.revision = revision
  }
}

/** The keys in [from, to) after a revision of etcd. */
export interface Following {
  readonly range: readonly [from: Buffer, to: Buffer]
  readonly after: number
  /** Called before a watch that failed is opened again at `revision`. Ends the watch when it rejects. */
  readonly resuming: (revision: number) => Promise<void>
}

/** Milliseconds between two attempts to open a watch. */
const pause = 100

/**
 * The events of a range of keys, in order and each once, whichever members fail: a watch that ends is opened again after
 * the last event. A response has all events of its revisions. Ends when `signal` aborts; throws `EtcdCompacted`.
 */
export async function* followKeys(
  connection: EtcdConnection,
  following: Following,
  signal: AbortSignal,
): AsyncGenerator<readonly EtcdEvent[]> {
  let { after } = following
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    if (!isFirst && !(await mayResume(connection, { ...following, after }, signal))) continue
    for await (const events of oneWatch(connection, { ...following, after }, signal)) {
      after = events.at(-1)?.value.modified ?? after
      yield events
    }
  }
}

/** Waits, and checks that the watch can go on; false: check again. */
async function mayResume(
  connection: EtcdConnection,
  { resuming, after }: Following,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await sleep(pause, undefined, { signal })
    await resuming(after)
    return true
  } catch (error) {
    if (!signal.aborted) resumable(connection, error, undefined)
    return false
  }
}

/** The events of one stream; ends when the stream fails in a way that another may not. */
async function* oneWatch(
  connection: EtcdConnection,
  { range: [key, end], after }: Following,
  signal: AbortSignal,
): AsyncGenerator<readonly EtcdEvent[]> {
  const opened = await connection.watch().catch(error => resumable(connection, error, undefined))
  if (opened === undefined) return
  const { stream, member, left } = opened
  const ending = [signal, left]
  const cancel = (): void => stream.cancel()
  for (const each of ending) each.addEventListener('abort', cancel, { once: true })
  if (ending.some(({ aborted }) => aborted)) cancel()
  // After the loop there is no other listener for the error of a canceled stream.
  stream.on('error', () => undefined)
  try {
    stream.write(encodeWatch({ key, end, start: after + 1 }))
    yield* eventsOf(stream)
  } catch (error) {
    if (!signal.aborted) resumable(connection, error, member)
  } finally {
    for (const each of ending) each.removeEventListener('abort', cancel)
    stream.cancel()
  }
}

async function* eventsOf(stream: EtcdWatch): AsyncGenerator<readonly EtcdEvent[]> {
  for await (const response of stream) {
    const { compacted, canceled, reason, events } = response as Awaited<ReturnType<EtcdWatch['read']>>
    if (compacted > 0) throw new EtcdCompacted(compacted)
    if (canceled) throw new EtcdFailure(codeOf(reason), reason)
    if (events.length > 0) yield events
  }
}

/** Watches are canceled with a text only. */
const codeOf = (reason: string): number =>
  reason.includes('permission denied') ? status.PERMISSION_DENIED : status.UNAVAILABLE

/** Leaves the member that failed; throws when another attempt fails likewise. */
function resumable(connection: EtcdConnection, error: unknown, member: number | undefined): undefined {
  if (error instanceof EtcdCompacted || error instanceof StoreError) throw error
  const failure = failureOf(error)
  if (isOldToken(failure)) connection.forgetToken()
  else if (!isTransient(failure)) throw failure
  if (member !== undefined) connection.leave(member)
  return undefined
}
