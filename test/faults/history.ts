import assert from 'node:assert/strict'

/** A read of a key, or a write to it, as its client saw it. */
export interface Operation {
  readonly client: number
  readonly kind: 'read' | 'write'
  readonly key: string
  /** The value that was written or read; no two writes have the same. */
  readonly value: string
  /** The resourceVersion of the answer; absent: the outcome is unknown. */
  readonly version?: number
  /** Milliseconds; `ended` is absent when the outcome is unknown. */
  readonly begun: number
  readonly ended?: number
}

/** An event of a watch. */
export interface Watched {
  readonly key: string
  readonly value: string
  readonly version: number
}

/** What all clients saw. */
export class History {
  readonly operations: Operation[] = []
  /** By watch, in the order of arrival. */
  readonly watches: Watched[][] = []

  get acknowledged(): readonly Operation[] {
    return this.operations.filter(({ kind, version }) => kind === 'write' && version !== undefined)
  }

  /** The newest acknowledged version. */
  get newest(): number {
    return Math.max(0, ...this.acknowledged.map(({ version = 0 }) => version))
  }
}

/**
 * Throws when an acknowledged write is lost, a write is made twice, a read goes back, or a watch loses, repeats or reorders an
 * event.
 */
export function checkHistory(history: History): void {
  const known = history.operations.filter(({ version }) => version !== undefined)
  const keys = new Set(known.map(({ key }) => key))
  for (const key of keys) checkKey(known.filter(operation => operation.key === key))
  checkOrigins(history)
  checkOnce(history)
  for (const watch of history.watches) checkWatch(history, watch)
}

/**
 * Operations on one key in the order of their versions are linearizable: none has a lower version than one that ended before
 * it began, and a write has a higher one.
 */
function checkKey(operations: readonly Operation[]): void {
  const byEnd = [...operations].sort((a, b) => (a.ended ?? 0) - (b.ended ?? 0))
  const byBegin = [...operations].sort((a, b) => a.begun - b.begun)
  let newest: Operation | undefined
  let i = 0
  for (const operation of byBegin) {
    for (; (byEnd[i]?.ended ?? Number.POSITIVE_INFINITY) < operation.begun; i++)
      if ((byEnd[i]?.version ?? 0) >= (newest?.version ?? 0)) newest = byEnd[i]
    const least = (newest?.version ?? 0) + (operation.kind === 'write' ? 1 : 0)
    assert.ok(
      (operation.version ?? 0) >= least,
      `${JSON.stringify(operation)} is older than ${JSON.stringify(newest)}, which ended before`,
    )
  }
}

/** One version has one value, which a client wrote. */
function checkOrigins({ operations, watches }: History): void {
  const sent = new Set(operations.filter(({ kind }) => kind === 'write').map(({ value }) => value))
  const values = new Map<string, string>()
  for (const { key, value, version } of [...operations, ...watches.flat()]) {
    if (version === undefined || value === '') continue
    assert.ok(sent.has(value), `${key} had ${value}, which was not written`)
    const known = values.get(`${key} ${version}`)
    assert.ok(known === undefined || known === value, `${key} had ${known} and ${value} at ${version}`)
    values.set(`${key} ${version}`, value)
  }
}

/** A write has one version: one that was repeated after a lost response was not made twice. */
function checkOnce({ operations, watches }: History): void {
  const versions = new Map<string, number>()
  for (const { key, value, version } of [...operations, ...watches.flat()]) {
    if (version === undefined || value === '') continue
    const known = versions.get(`${key} ${value}`)
    assert.ok(known === undefined || known === version, `${key} had ${value} at ${known} and at ${version}`)
    versions.set(`${key} ${value}`, version)
  }
}

/** A watch has all acknowledged writes, each event once, in order. */
function checkWatch({ acknowledged }: History, watch: readonly Watched[]): void {
  const wrong = watch.filter(({ version }, i) => i > 0 && version <= (watch[i - 1]?.version ?? 0))
  assert.deepEqual(wrong, [], 'events that came twice or out of order')
  const seen = new Map(watch.map(({ version, value }) => [version, value]))
  const lost = acknowledged.filter(({ version = 0, value }) => seen.get(version) !== value)
  assert.deepEqual(lost, [], 'acknowledged writes without their event')
}
