import { allColumns, type QueryColumn, rowsWith } from './columns.ts'
import type { ListDocument } from './elements.ts'
import { inOrder } from './ordered.ts'
import type { MergedPage, MergedPart, PageElements } from './page.ts'
import type { ShardPart } from './part.ts'
import { withoutObject } from './position.ts'
import { type ProbedPart, probe } from './probe.ts'
import { Revisions } from './revisions.ts'
import { shardByShard } from './sequence.ts'
import { type MergedStart, startIn, tokenOf } from './token.ts'

/** Lists what all shards have: objects shard by shard, or in the order of `orderBy`. */
export async function* listParts(
  parts: readonly ShardPart[],
  query: URLSearchParams,
): AsyncGenerator<Buffer, void> {
  const token = query.get('continue') ?? ''
  const revisions = new Revisions(parts.map(({ shard }) => shard))
  const asked = token === '' ? revisions.asked(query.get('resourceVersion') ?? '') : parts.map(() => '')
  const probed = await probe(parts, query, asked)
  const start = token === '' ? firstStart(parts, probed, revisions) : startIn(token, parts.length)
  const columns = allColumns(probed.map(({ head }) => head.columnDefinitions ?? []))
  const own = revisions.split(start.revision)
  const orderBy = query.get('orderBy') ?? ''
  const hidesObjects = orderBy !== '' && query.get('includeObject') === 'None'
  const page: MergedPage = {
    parts: probed.flatMap(each => partOf(each, { start, own, columns, hidesObjects })),
    limit: Number(query.get('limit') ?? 0),
    start,
    orderBy,
  }
  yield* written(
    page.orderBy === '' ? shardByShard(page) : inOrder(page),
    start,
    headOf(probed[0].head, columns),
  )
}

/** Parts without the resource have the version 0, and no objects. */
function firstStart(
  parts: readonly ShardPart[],
  probed: readonly ProbedPart[],
  revisions: Revisions,
): MergedStart {
  const heads = parts.map((_, i) => probed.find(({ index }) => index === i)?.head)
  return {
    revision: revisions.joined(heads.map(head => head?.metadata?.resourceVersion ?? '0')),
    places: heads.map(head => (head === undefined ? null : '')),
  }
}

interface Aligning {
  readonly start: MergedStart
  readonly own: readonly string[]
  readonly columns: readonly QueryColumn[]
  readonly hidesObjects: boolean
}

function partOf(probed: ProbedPart, { start, own, columns, ...page }: Aligning): readonly MergedPart[] {
  const { index, head } = probed
  if ((start.places[index] ?? null) === null) return []
  const { columnDefinitions } = head
  const isTable = columnDefinitions !== undefined
  const hidesObjects = isTable && page.hidesObjects
  const row = isTable ? rowsWith(columnDefinitions, columns) : same
  const aligned = hidesObjects ? (element: Buffer) => row(withoutObject(element)) : row
  return [{ ...probed, revision: own[index] ?? '', isTable, aligned, hidesObjects }]
}

const same = (element: Buffer): Buffer => element

/** The text before the elements. */
function headOf(
  { kind, apiVersion, columnDefinitions: own }: ListDocument,
  columnDefinitions: readonly QueryColumn[],
): string {
  const isTable = own !== undefined
  const head = JSON.stringify({ kind, apiVersion, ...(isTable && { columnDefinitions }) })
  return `${head.slice(0, -1)},"${isTable ? 'rows' : 'items'}":[`
}

const comma = Buffer.from(',')

async function* written(
  elements: PageElements,
  { revision }: MergedStart,
  head: string,
): AsyncGenerator<Buffer, void> {
  let before: Buffer = Buffer.from(head)
  let next = await elements.next()
  for (; !next.done; next = await elements.next()) {
    if (next.value.length === 0) continue
    yield Buffer.concat([before, ...next.value.flatMap((each, i) => (i === 0 ? [each] : [comma, each]))])
    before = comma
  }
  const following = next.value
  const metadata = { resourceVersion: revision, ...(following && { continue: tokenOf(following) }) }
  yield Buffer.from(`${before === comma ? '' : head}],"metadata":${JSON.stringify(metadata)}}\n`)
}
