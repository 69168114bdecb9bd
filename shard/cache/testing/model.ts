import type { WatchQuery } from '../../../framework/contract/storage.ts'
import { matchesLabels } from '../../../framework/selectors/selectors.ts'
import { keyOf } from './fixture.ts'

/** One object in the naive model. */
interface Entry {
  readonly value: string
  readonly labels: Readonly<Record<string, string>>
}

type State = ReadonlyMap<string, Entry>

const inOrder = (a: string, b: string): number => (a < b ? -1 : 1)

/** A naive model of the cache: a complete copy of the state for every revision. */
export class Model {
  readonly #states: State[] = [new Map()]
  readonly #changed: string[] = ['']

  get revision(): number {
    return this.#states.length - 1
  }

  has(id: string): boolean {
    return this.#at(this.revision).has(id)
  }

  write(id: string, entry: Entry | undefined): void {
    const next = new Map(this.#at(this.revision))
    if (entry === undefined) next.delete(id)
    else next.set(id, entry)
    this.#states.push(next)
    this.#changed.push(id)
  }

  list(selection: Partial<WatchQuery>, revision = this.revision): string[] {
    const selected = [...this.#at(revision)].filter(([id, entry]) => selects(selection, id, entry))
    return selected.sort(([a], [b]) => inOrder(a, b)).map(([id, { value }]) => `${id}=${value}`)
  }

  /** The events that a watch from `after` has received. */
  events(selection: Partial<WatchQuery>, after: number): string[] {
    const found: string[] = []
    for (let revision = after + 1; revision <= this.revision; revision++) {
      const id = this.#changed[revision] ?? ''
      const before = this.#seen(selection, id, revision - 1)
      const now = this.#seen(selection, id, revision)
      if (now !== undefined) found.push(`${before ? 'MODIFIED' : 'ADDED'} ${id}=${now.value}@${revision}`)
      else if (before !== undefined) found.push(`DELETED ${id}=${before.value}@${revision}`)
    }
    return found
  }

  #at(revision: number): State {
    return this.#states[revision] ?? new Map()
  }

  #seen(selection: Partial<WatchQuery>, id: string, revision: number): Entry | undefined {
    const entry = this.#at(revision).get(id)
    return entry !== undefined && selects(selection, id, entry) ? entry : undefined
  }
}

function selects(
  { cluster = '*', namespace, labels }: Partial<WatchQuery>,
  id: string,
  entry: Entry,
): boolean {
  const key = keyOf(id)
  return (
    (cluster === '*' || cluster === key.cluster) &&
    (!namespace || namespace === key.namespace) &&
    matchesLabels(labels, entry.labels)
  )
}
