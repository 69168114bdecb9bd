import type { ClusterName } from '../../../framework/index.ts'

/** Milliseconds for which a change is remembered with its logical cluster: watches that go on from further back list again. */
const remembered = 15 * 60_000

/**
 * The revisions of the last changes in logical clusters. Tenants choose how many there are, so that old changes are remembered
 * only as one revision.
 */
export class LastRevisions {
  readonly #last = new Map<ClusterName, { readonly revision: number; readonly until: number }>()
  #floor = 0

  /** The revision of the last change, or a later one if nothing has changed lately. */
  of(cluster: ClusterName): number {
    return this.#last.get(cluster)?.revision ?? this.#floor
  }

  record(cluster: ClusterName, revision: number, now = performance.now()): void {
    const last = Math.max(this.#last.get(cluster)?.revision ?? 0, revision)
    this.#last.delete(cluster)
    this.#last.set(cluster, { revision: last, until: now + remembered })
    for (const [name, { revision, until }] of this.#last) {
      if (until > now) return
      this.#last.delete(name)
      this.raise(revision)
    }
  }

  /** All logical clusters without a remembered change may have changed at the revision. */
  raise(revision: number): void {
    this.#floor = Math.max(this.#floor, revision)
  }
}
