import { Pace } from '../../framework/async/awaitable.ts'
import { initialEventsEnd } from '../../framework/contract/item.ts'
import { elementsIn, type JsonSpan, memberOf } from '../../framework/json/members.ts'
import type { StatusError } from '../../framework/meta/errors.ts'
import { metadataIn } from '../../remote/reading/item.ts'
import { mostOfElement, Unfinished } from '../../remote/reading/unfinished.ts'
import { type QueryColumn, unchanged } from './columns.ts'

/** One event of a watch in JSON: a line without its end. */
export interface Frame {
  readonly type: string
  readonly line: Buffer
}

const newline = 0x0a
const comma = Buffer.from(',')

/** The events of a response, as they arrive: those that one piece of it completes. Throws `ResponseTooLarge`. */
export async function* framesOf(body: AsyncIterable<Buffer>): AsyncGenerator<readonly Frame[], void> {
  const rest = new Unfinished('an event', mostOfElement)
  const pace = new Pace()
  for await (const piece of body) {
    await pace.dueFor(piece)
    const frames = framesIn(piece, rest)
    if (frames.length > 0) yield frames
  }
}

function framesIn(piece: Buffer, rest: Unfinished): readonly Frame[] {
  const frames: Frame[] = []
  let start = 0
  for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, start)) {
    const line = rest.take(piece.subarray(start, end))
    start = end + 1
    if (line.length > 0) frames.push({ type: typeOf(line), line })
  }
  rest.push(piece.subarray(start))
  return frames
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

const columnsKey = Buffer.from('"columnDefinitions"')
const rowsKey = Buffer.from('"rows"')

const columnsAt = (line: Buffer): JsonSpan | undefined => memberOf(line, objectAt(line), columnsKey)

/** The columns of a Table; undefined where an event has none. Its rows, which can be large, are not decoded. */
export function columnsIn({ line }: Frame): readonly QueryColumn[] | undefined {
  const span = columnsAt(line)
  if (span === undefined) return undefined
  return (
    (JSON.parse(line.toString('utf8', span.value, span.to)) as readonly QueryColumn[] | null) ?? undefined
  )
}

/** The event of a Table with its rows converted. */
export function withRows({ type, line }: Frame, converted: (row: Buffer) => Buffer): Frame {
  const span = memberOf(line, objectAt(line), rowsKey)
  if (converted === unchanged || span === undefined) return { type, line }
  const rows = [...elementsIn(line, span.value + 1)].map(({ from, to }) => converted(line.subarray(from, to)))
  const parts = rows.flatMap((row, i) => (i === 0 ? [row] : [comma, row]))
  return {
    type,
    line: Buffer.concat([line.subarray(0, span.value + 1), ...parts, line.subarray(span.to - 1)]),
  }
}

/** The event of a Table with these columns, as JSON; undefined: with none. */
export function withColumns({ line }: Frame, columns = 'null'): Buffer {
  const span = columnsAt(line)
  if (span === undefined) return line
  const text = Buffer.from(columns)
  return Buffer.concat([line.subarray(0, span.value), text, line.subarray(span.to)])
}
