import type { WatchEvent } from './follow.ts'
import { clusterAnnotation, type Meta } from './objects.ts'

export interface Column {
  readonly name: string
  readonly type: string
  readonly description?: string
  readonly priority: number
}

interface Row {
  readonly cells: readonly unknown[]
  readonly object?: { readonly metadata?: Meta }
}

/** A Table (`meta.k8s.io/v1`). */
export interface Table {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  /** null in the events of a watch after its first one. */
  readonly columnDefinitions?: readonly Column[] | null
  readonly rows?: readonly Row[] | null
}

/** A row of the live table. */
export interface LiveRow {
  readonly key: string
  readonly cells: readonly string[]
  /** The name of the logical cluster; '' where objects have none. */
  readonly cluster: string
  readonly namespace: string
  readonly name: string
  /** How often it changed since the table was opened. */
  readonly changes: number
}

/** The rows of a Table and the changes that a watch reports, sorted. */
export class LiveTable {
  columns: readonly Column[] = []
  isCut = false
  events = 0
  readonly #rows = new Map<string, LiveRow>()

  get rows(): readonly LiveRow[] {
    return [...this.#rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  list({ columnDefinitions, rows, metadata = {} }: Table): void {
    this.columns = columnDefinitions ?? []
    this.isCut = (metadata.continue ?? '') !== ''
    const before = new Map(this.#rows)
    this.#rows.clear()
    for (const row of rows ?? []) {
      const read = rowOf(row, 0)
      this.#rows.set(read.key, { ...read, changes: before.get(read.key)?.changes ?? 0 })
    }
  }

  event({ type, object: { columnDefinitions, rows } }: WatchEvent<Table>): void {
    if (columnDefinitions?.length) this.columns = columnDefinitions
    for (const row of rows ?? []) {
      this.events += 1
      const key = keyOf(row)
      if (type === 'DELETED') this.#rows.delete(key)
      else this.#rows.set(key, rowOf(row, (this.#rows.get(key)?.changes ?? 0) + 1))
    }
  }
}

const keyOf = ({ object }: Row): string => {
  const { annotations, namespace = '', name = '' } = object?.metadata ?? { name: '' }
  return `${annotations?.[clusterAnnotation] ?? ''}/${namespace}/${name}`
}

function rowOf(row: Row, changes: number): LiveRow {
  const { annotations, namespace = '', name = '' } = row.object?.metadata ?? { name: '' }
  const cluster = annotations?.[clusterAnnotation] ?? ''
  return { key: keyOf(row), cells: row.cells.map(textOf), cluster, namespace, name, changes }
}

const textOf = (cell: unknown): string => {
  if (cell === null || cell === undefined) return ''
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell)
}
