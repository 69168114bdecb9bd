import { StoreError, type StoreEvent } from '../store.ts'
import { EpochEnded } from './epochended.ts'
import { EtcdCompacted } from './following.ts'
import { checkRecord, type EtcdTarget, idIn } from './head.ts'
import { storedValue } from './layout.ts'
import type { EtcdEvent, KeyValue } from './messages.ts'
import type { SeenCommit } from './seen.ts'

/**
 * The history of etcd as one watch of `Layout.history` receives it. Every commit writes the head, whose event has its value of before:
 * so each commit names the one before it, and a commit that is missing or that a restored etcd has in its place is noticed.
 */
export class CommitChain {
  readonly #target: EtcdTarget
  /** Of the last event. */
  #revision: number
  /** The newest revision before that. */
  #before: number
  /** What the next commit has to name; undefined: none was received. */
  #last: SeenCommit | undefined

  /** `after`: the revision of etcd after which the watch begins. */
  constructor(target: EtcdTarget, after: number) {
    this.#target = target
    this.#revision = after
    this.#before = after
  }

  /**
   * The events of objects in a response. Throws `EpochEnded`, `EtcdCompacted` when a value of before is compacted, and `StoreError`
   * for events that etcd does not send.
   */
  take(events: readonly EtcdEvent[]): readonly EtcdEvent[] {
    const { layout } = this.#target
    const [first] = events
    if (first && first.value.modified <= this.#revision) throw outOfOrder()
    for (const event of events) this.#receive(event)
    return events.filter(({ value }) => isWithin(value, layout.objects))
  }

  #receive(event: EtcdEvent): void {
    const { head, installation } = this.#target.layout
    const { key, modified } = event.value
    if (modified < this.#revision) throw outOfOrder()
    if (modified > this.#revision) this.#before = this.#revision
    this.#revision = modified
    if (isUnknown(event)) throw new EtcdCompacted(modified)
    if (key.equals(head)) this.#follow(event)
    else if (key.equals(installation)) checkRecord(this.#target, event.value)
  }

  #follow(event: EtcdEvent): void {
    const { seen } = this.#target
    const { modified } = event.value
    this.#checkPrevious(commitIn(event.previous))
    if (seen.revision > this.#before && seen.revision < modified) throw new EpochEnded()
    const commit = commitIn(event.value)
    seen.note(commit)
    this.#last = event.isDeletion ? commitIn(undefined) : commit
  }

  #checkPrevious(previous: SeenCommit): void {
    const last = this.#last
    const isNext =
      last === undefined
        ? previous.modified <= this.#before
        : previous.modified === last.modified && previous.id === last.id
    if (!isNext) throw new EpochEnded()
    if (previous.modified === this.#target.seen.revision) this.#target.seen.note(previous)
  }
}

/** The event of a store for the event of an object in etcd. */
export function storeEvent(
  { layout, offset }: EtcdTarget,
  { isDeletion, value, previous }: EtcdEvent,
): StoreEvent {
  return {
    revision: value.modified + offset,
    key: layout.textOf(value.key),
    ...(!isDeletion && { value: storedValue(layout, value, offset) }),
    ...(previous !== undefined && { previous: storedValue(layout, previous, offset) }),
  }
}

const commitIn = (head: KeyValue | undefined): SeenCommit => ({
  modified: head?.modified ?? 0,
  id: idIn(head),
})

const isWithin = ({ key }: KeyValue, [from, to]: readonly [Buffer, Buffer]): boolean =>
  key.compare(from) >= 0 && key.compare(to) < 0

/** Whether the value of before is missing, although there was one. */
const isUnknown = ({ previous, value: { created, modified } }: EtcdEvent): boolean =>
  previous === undefined && created !== modified

const outOfOrder = (): Error => new StoreError('etcd sent changes twice, or not in their order')
