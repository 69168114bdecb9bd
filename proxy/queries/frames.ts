import { initialEventsEnd } from '../../framework/contract/item.ts'
import type { StatusError } from '../../framework/meta/errors.ts'
import { metadataIn } from '../../remote/reading/item.ts'
import { mostOfElement, Unfinished } from '../../remote/reading/unfinished.ts'
import type { QueryColumn } from './columns.ts'

/** One event of a watch in JSON: a line without its end. */
export interface Frame {
  readonly type: string
  readonly line: Buffer
}

const newline = 0x0a

/** The events of a response, as they arrive. Throws `ResponseTooLarge`. */
export async function* framesOf(body: AsyncIterable<Buffer>): AsyncGenerator<Frame, void> {
  const rest = new Unfinished('an event', mostOfElement)
  for await (const piece of body) {
    let start = 0
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, start)) {
      const line = rest.take(piece.subarray(start, end))
      start = end + 1
      if (line.length > 0) yield { type: typeOf(line), line }
    }
    rest.push(piece.subarray(start))
  }
}

const typeOf = (line: Buffer): string =>
  /^\{"type":"([A-Z]+)"/.exec(line.toString('latin1', 0, 64))?.[1] ?? ''

const objectAt = (line: Buffer): number => line.indexOf('"object":') + '"object":'.length

interface WatchedMetadata {
  readonly resourceVersion?: string
  readonly annotations?: Readonly<Record<string, string>>
}

/** The metadata of the object of an event; of a Table, that of the Table. */
const metadataOf = (line: Buffer): WatchedMetadata => metadataIn(line.subarray(objectAt(line), -1))

/** '' if there is none. */
export const versionOf = ({ line }: Frame): string => metadataOf(line).resourceVersion ?? ''

interface Bookmark {
  readonly type: string
  readonly object: { readonly metadata: WatchedMetadata; readonly rows?: readonly Row[] }
}

interface Row {
  readonly object?: { readonly metadata?: WatchedMetadata } | null
}

export function isEndOfInitialEvents({ line }: Frame): boolean {
  const { object } = JSON.parse(line.toString()) as Bookmark
  const all = [object.metadata, ...(object.rows ?? []).map(row => row.object?.metadata)]
  return all.some(metadata => metadata?.annotations?.[initialEventsEnd] === 'true')
}

/** The bookmark with another resourceVersion. */
export function bookmarkAt({ line }: Frame, resourceVersion: string): Buffer {
  const { type, object } = JSON.parse(line.toString()) as Bookmark
  const metadata = { ...object.metadata, resourceVersion }
  const rows = object.rows?.map(row => ({ ...row, object: rowObject(row, resourceVersion) }))
  return Buffer.from(JSON.stringify({ type, object: { ...object, metadata, ...(rows && { rows }) } }))
}

function rowObject({ object }: Row, resourceVersion: string): Row['object'] {
  if (object?.metadata === undefined) return object
  return { ...object, metadata: { ...object.metadata, resourceVersion } }
}

/** The event of an error, with the end of its line. */
export const errorLine = ({ status }: StatusError): Buffer =>
  Buffer.from(`${JSON.stringify({ type: 'ERROR', object: status })}\n`)

/** The columns of a Table; undefined where an event has none. */
export function columnsIn({ line }: Frame): readonly QueryColumn[] | undefined {
  const { object } = JSON.parse(line.toString()) as {
    object: { columnDefinitions?: readonly QueryColumn[] | null }
  }
  return object.columnDefinitions ?? undefined
}

/** The event of a Table with these columns; undefined: with none. */
export function withColumns({ line }: Frame, columns: readonly QueryColumn[] | undefined): Buffer {
  const { type, object } = JSON.parse(line.toString()) as { type: string; object: object }
  return Buffer.from(JSON.stringify({ type, object: { ...object, columnDefinitions: columns ?? null } }))
}
