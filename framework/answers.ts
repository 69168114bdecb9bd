import { contentTypeOf, encodeValue } from './documentanswer.ts'
import type { Answer } from './exchange.ts'
import type { ListForm, ObjectForm } from './forms.ts'
import type { Item } from './item.ts'
import { parseJson } from './json.ts'
import type { Negotiated } from './negotiation.ts'
import type { ItemBatch, ItemList, ListMeta } from './storage.ts'
import { bodyOf, soon } from './streams.ts'

const newline = Buffer.from('\n')
const comma = Buffer.from(',')

/** A list is sent in writes of at most this many bytes (design, section B.1). */
const largestWrite = 256 * 1024
/** Smaller pieces are copied together until they are this long. */
const worthAWrite = 64 * 1024

/** Whether JSON on one line is wanted: then bytes can be passed on as they are. */
const isPlain = ({ format, pretty }: Negotiated): boolean => format === 'json' && !pretty

/** JSON on one line in the form that the client wants. */
function finish(json: Buffer, how: Negotiated): Buffer {
  return isPlain(how) ? Buffer.concat([json, newline]) : encodeValue(parseJson(json), how)
}

/** One object. */
export const itemAnswer = (item: Item, form: ObjectForm, how: Negotiated, status = 200): Answer => ({
  status,
  contentType: contentTypeOf(how),
  body: finish(form(item), how),
})

/**
 * A list that leaves while it is read. What fails before the first batch is thrown here, so that it can still be
 * answered as an error.
 */
export async function listAnswer(list: ItemList, form: ListForm, how: Negotiated): Promise<Answer> {
  const contentType = contentTypeOf(how)
  const first = await list.next()
  const chunks = listChunks(list, first, form)
  if (!isPlain(how))
    return { status: 200, contentType, body: encodeValue(parseJson(await joined(chunks)), how) }
  // A short list is one write with a length; the next batch is only waited for as long as nobody else could run.
  const begun = await chunks.next()
  const next = chunks.next()
  const second = await soon(next)
  if (second?.done && !begun.done) return { status: 200, contentType, body: begun.value }
  return { status: 200, contentType, body: bodyOf(resumed(begun, next, chunks), () => void chunks.return()) }
}

type Chunk = IteratorResult<Buffer, void>

async function* resumed(
  begun: Chunk,
  next: Promise<Chunk>,
  rest: AsyncGenerator<Buffer, void>,
): AsyncGenerator<Buffer, void> {
  if (!begun.done) yield begun.value
  const second = await next
  if (!second.done) yield second.value
  yield* rest
}

async function joined(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}

/** Collects small pieces and passes large ones on as they are. */
class Outbox {
  #pieces: Buffer[] = []
  #size = 0

  add(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#size += piece.length
  }
  get isWorthAWrite(): boolean {
    return this.#size >= worthAWrite
  }
  take(): Buffer {
    const [only] = this.#pieces
    const chunk =
      this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces, this.#size)
    this.#pieces = []
    this.#size = 0
    return chunk
  }
}

async function* listChunks(
  list: ItemList,
  first: IteratorResult<ItemBatch, ListMeta>,
  form: ListForm,
): AsyncGenerator<Buffer, void> {
  const outbox = new Outbox()
  outbox.add(Buffer.from(form.head))
  let separated = true
  let next = first
  try {
    for (; !next.done; next = await list.next()) {
      if (next.value.length === 0) continue
      if (!separated) outbox.add(comma)
      yield* batchChunks(next.value, form, outbox)
      separated = false
    }
    outbox.add(Buffer.from(`],"metadata":${JSON.stringify(next.value)}}\n`))
    yield outbox.take()
  } finally {
    await list.return({ resourceVersion: '' })
  }
}

/** The items of one batch; what is left in the outbox is too little to be sent alone. */
function* batchChunks(batch: ItemBatch, { element }: ListForm, outbox: Outbox): Generator<Buffer> {
  if (element === undefined && batch.bytes !== undefined) {
    yield* slices(batch.bytes, outbox)
    return
  }
  let separated = true
  for (const item of batch) {
    if (!separated) outbox.add(comma)
    outbox.add(element === undefined ? item.bytes : element(item))
    separated = false
    if (outbox.isWorthAWrite) yield outbox.take()
  }
}

function* slices(bytes: Buffer, outbox: Outbox): Generator<Buffer> {
  if (bytes.length < worthAWrite) {
    outbox.add(bytes)
    if (outbox.isWorthAWrite) yield outbox.take()
    return
  }
  yield outbox.take()
  for (let at = 0; at < bytes.length; at += largestWrite) yield bytes.subarray(at, at + largestWrite)
}
