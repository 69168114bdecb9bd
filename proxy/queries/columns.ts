import { elementsIn, endOfValue } from '../../framework/json/members.ts'

/** A column of a Table. */
export interface QueryColumn {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
}

/** The column of queries that stays the last one. */
const lastColumn = 'Workspace'

const idOf = ({ name, type }: QueryColumn): string => `${type}/${name}`

/** The columns of all shards: those of the first one, then those that only others have. */
export function allColumns(tables: readonly (readonly QueryColumn[])[]): readonly QueryColumn[] {
  const found = new Map(
    tables
      .toReversed()
      .flat()
      .map(column => [idOf(column), column]),
  )
  const ids = [...new Set(tables.flat().map(idOf))]
  const columns = ids.flatMap(id => found.get(id) ?? [])
  const isLast = ({ name }: QueryColumn): boolean => name === lastColumn
  return [...columns.filter(column => !isLast(column)), ...columns.filter(isLast)]
}

const [opening, comma, none] = ['[', ',', 'null'].map(text => Buffer.from(text)) as [Buffer, Buffer, Buffer]
const cellsAt = '{"cells":'.length

/** Of a shard that has all columns. */
export const unchanged = (row: Buffer): Buffer => row

/** The places of all columns among those of one shard; -1 for the columns of others. */
function placesIn(own: readonly QueryColumn[], all: readonly QueryColumn[]): readonly number[] {
  const places = new Map<string, number>()
  for (const [place, column] of own.entries()) if (!places.has(idOf(column))) places.set(idOf(column), place)
  return all.map(column => places.get(idOf(column)) ?? -1)
}

/** The columns of the Tables of several shards, as they become known, and the rows with a cell for each of all columns. */
export class JoinedColumns {
  /** By shard, in the order of the shards. */
  readonly #own: (readonly QueryColumn[])[] = []
  #aligned: ((row: Buffer) => Buffer)[] = []
  #text = ''

  /** As JSON. */
  get text(): string {
    return this.#text
  }

  /** `own` are now the columns of the shard. */
  add(shard: number, own: readonly QueryColumn[]): void {
    this.#own[shard] = own
    const tables = Array.from(this.#own, table => table ?? [])
    const all = allColumns(tables)
    this.#text = JSON.stringify(all)
    this.#aligned = tables.map(table => rowsWith(table, all))
  }

  /** Converts rows of a shard; undefined where its columns are not known. */
  rowsOf(shard: number): ((row: Buffer) => Buffer) | undefined {
    return this.#own[shard] && this.#aligned[shard]
  }
}

/** Converts rows of one shard: a cell for each of all columns, null for those of others. */
export function rowsWith(own: readonly QueryColumn[], all: readonly QueryColumn[]): (row: Buffer) => Buffer {
  const places = placesIn(own, all)
  if (own.length === all.length && places.every((place, i) => place === i)) return unchanged
  return row => {
    const cells = [...elementsIn(row, cellsAt + 1)].map(({ from, to }) => row.subarray(from, to))
    const aligned = places.flatMap((place, i) => [i === 0 ? opening : comma, cells[place] ?? none])
    return Buffer.concat([row.subarray(0, cellsAt), ...aligned, row.subarray(endOfValue(row, cellsAt) - 1)])
  }
}
