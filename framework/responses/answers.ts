import { bodyOf, optional, soon } from '../async/awaitable.ts'
import type { Item } from '../contract/item.ts'
import type { ItemBatch, ItemList, ListMeta } from '../contract/storage.ts'
import { parseJson } from '../json/json.ts'
import type { Answer } from '../request/response.ts'
import { encodeValue } from './documentanswer.ts'
import type { ListForm, ObjectForm } from './forms.ts'
import { listText } from './listtext.ts'
import { contentTypeOf, type Negotiated } from './negotiation.ts'

const newline = 0x0a

/** A list is sent in writes of at most this many bytes (design, section B.1). */
const largestWrite = 256 * 1024
/** Smaller pieces are copied together until they are about this long. */
const worthAWrite = 64 * 1024
/** A chunk that has less room than this left is sent. */
const room = 4 * 1024
/** Less room than this is not worth beginning a chunk in. */
const worthAChunk = worthAWrite / 2

/** Whether JSON on one line is wanted: then bytes can be passed on as they are. */
const isPlain = ({ format, pretty }: Negotiated): boolean => format === 'json' && !pretty

/** JSON on one line in the form that the client wants. */
function finish(json: Buffer, how: Negotiated): Buffer {
  return isPlain(how) ? withNewline(json) : encodeValue(parseJson(json), how)
}

function withNewline(json: Buffer): Buffer {
  const line = Buffer.allocUnsafe(json.length + 1)
  json.copy(line)
  line[json.length] = newline
  return line
}

/** One object. */
export const itemAnswer = (item: Item, form: ObjectForm, how: Negotiated, status = 200): Answer => ({
  status,
  contentType: contentTypeOf(how),
  body: how.format === 'protobuf' ? form(item) : finish(form(item), how),
})

/**
 * A list that leaves while it is read. What fails before the first batch is thrown here, so that it can still be
 * answered as an error.
 */
export async function listAnswer(list: ItemList, form: ListForm, how: Negotiated): Promise<Answer> {
  const contentType = contentTypeOf(how)
  if (form.whole !== undefined) return { status: 200, contentType, body: await wholeList(list, form.whole) }
  const first = await list.next()
  const format = how.format === 'yaml' ? 'yaml' : 'json'
  const chunks = isPlain(how) ? listChunks(list, first, form) : listText(list, first, form, format)
  // A short list is one write with a length; the next batch is only waited for as long as nobody else could run.
  const begun = await chunks.next()
  const next = optional(chunks.next())
  const second = await soon(next)
  if (second?.done && !begun.done) return { status: 200, contentType, body: begun.value }
  return { status: 200, contentType, body: bodyOf(resumed(begun, next, chunks), () => chunks.return()) }
}

async function wholeList(list: ItemList, encode: NonNullable<ListForm['whole']>): Promise<Buffer> {
  const items: Item[] = []
  let next = await list.next()
  for (; !next.done; next = await list.next()) items.push(...next.value)
  return encode(items, next.value)
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

/** Chunks that are being filled, one behind the other in a buffer. Items are copied straight into it; large runs pass
 * beside it as they are. */
class Outbox {
  #buffer = Buffer.allocUnsafe(worthAWrite)
  /** Where the chunk begins that is being filled. */
  #from = 0
  #at = 0

  /** Whether so many bytes more would still fit. */
  fits(length: number): boolean {
    return this.#at + length <= this.#buffer.length
  }
  get isEmpty(): boolean {
    return this.#at === this.#from
  }
  addText(text: string): void {
    this.add(Buffer.from(text))
  }
  add(bytes: Buffer): void {
    this.#makeRoom(bytes.length)
    this.#at += bytes.copy(this.#buffer, this.#at)
  }
  addComma(): void {
    this.#makeRoom(1)
    this.#buffer[this.#at++] = 0x2c
  }
  addItem(item: Item): void {
    this.#makeRoom(item.length ?? item.bytes.length)
    this.#at += item.copy?.(this.#buffer, this.#at) ?? item.bytes.copy(this.#buffer, this.#at)
  }
  take(): Buffer {
    const chunk = this.#buffer.subarray(this.#from, this.#at)
    // A new chunk begins in what is left, unless that is too little for one.
    this.#from = this.#at = this.#at + worthAChunk <= this.#buffer.length ? this.#at : this.#buffer.length
    return chunk
  }
  #makeRoom(length: number): void {
    if (this.fits(length)) return
    const begun = this.#at - this.#from
    const larger = Buffer.allocUnsafe(Math.max(worthAWrite, 2 * (begun + length)))
    this.#buffer.copy(larger, 0, this.#from, this.#at)
    this.#buffer = larger
    this.#from = 0
    this.#at = begun
  }
}

async function* listChunks(
  list: ItemList,
  first: IteratorResult<ItemBatch, ListMeta>,
  form: ListForm,
): AsyncGenerator<Buffer, void> {
  const outbox = new Outbox()
  outbox.addText(form.head)
  let separated = true
  let next = first
  try {
    for (; !next.done; next = await list.next()) {
      if (next.value.length === 0) continue
      if (!separated) outbox.addComma()
      yield* batchChunks(next.value, form, outbox)
      separated = false
    }
    outbox.addText(`],"metadata":${JSON.stringify(next.value)}}\n`)
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
    if (!separated) outbox.addComma()
    if (element === undefined) outbox.addItem(item)
    else outbox.add(element(item))
    separated = false
    if (!outbox.fits(room)) yield outbox.take()
  }
}

function* slices(bytes: Buffer, outbox: Outbox): Generator<Buffer> {
  if (bytes.length < worthAWrite) {
    if (!outbox.fits(bytes.length)) yield outbox.take()
    outbox.add(bytes)
    return
  }
  if (!outbox.isEmpty) yield outbox.take()
  for (let at = 0; at < bytes.length; at += largestWrite) yield bytes.subarray(at, at + largestWrite)
}
