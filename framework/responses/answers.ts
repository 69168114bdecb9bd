import { type Awaitable, after, bodyOf, inTurns, optional, Pace, soon } from '../async/awaitable.ts'
import { turn } from '../async/turn.ts'
import { type Item, lengthOf } from '../contract/item.ts'
import type { ItemBatch, ItemList } from '../contract/storage.ts'
import { parseJson } from '../json/json.ts'
import type { Answer } from '../request/response.ts'
import { yamlParts } from '../wire/yamlparts.ts'
import { yamlPart } from '../wire/yamlsource.ts'
import { encodeValue } from './documentanswer.ts'
import { type ListForm, type ObjectForm, type WholeList, writeInSteps } from './forms.ts'
import { listText } from './listtext.ts'
import { contentTypeOf, type Negotiated } from './negotiation.ts'

const newline = 0x0a

/** The largest write of a list, in bytes. */
const largestWrite = 256 * 1024
/** Smaller pieces are copied together up to about this many bytes. */
const worthAWrite = 64 * 1024
/** A chunk with less free space than this is sent. */
const room = 4 * 1024
/** A new chunk needs at least this much free space in the buffer. */
const worthAChunk = worthAWrite / 2

/** Whether the format is JSON on one line: then stored bytes are sent unchanged. */
const isPlain = ({ format, pretty }: Negotiated): boolean => format === 'json' && !pretty

/** Bytes of JSON that take a few milliseconds as YAML. */
const large = 4 * 1024

/** Converts JSON on one line to the negotiated format. */
function finish(json: Buffer, how: Negotiated): Awaitable<Answer['body']> {
  if (isPlain(how)) return withNewline(json)
  return json.length < large ? encodeValue(parseJson(json), how) : finishLarge(json, how)
}

async function finishLarge(json: Buffer, how: Negotiated): Promise<Answer['body']> {
  if (json.length > worthAWrite) await turn()
  const value = parseJson(json)
  if (json.length > worthAWrite) await turn()
  return how.format === 'yaml' ? yamlChunks(value, json) : encodeValue(value, how)
}

/** A large object in YAML, with turns of the event loop. */
async function* yamlChunks(value: unknown, json: Buffer): AsyncGenerator<Buffer, void> {
  const pace = new Pace()
  let pieces = [json]
  for (const part of yamlParts(value)) {
    const said = pieces
    yield yamlPart(Buffer.from(part), () => said)
    pieces = []
    await pace.due()
  }
}

function withNewline(json: Buffer): Buffer {
  const line = Buffer.allocUnsafe(json.length + 1)
  json.copy(line)
  line[json.length] = newline
  return line
}

/** The response with one object. */
export const itemAnswer = (
  item: Item,
  form: ObjectForm,
  how: Negotiated,
  status = 200,
): Awaitable<Answer> => {
  const body =
    how.format === 'protobuf' ? inTurns(writeInSteps(form, item), new Pace()) : finish(form(item), how)
  return after(body, body => ({ status, contentType: contentTypeOf(how), body }))
}

/**
 * The response with a list, which is sent while it is read. Throws errors before the first batch, so that the response
 * can be a Status.
 */
export async function listAnswer(list: ItemList, form: ListForm, how: Negotiated): Promise<Answer> {
  const contentType = contentTypeOf(how)
  if (form.whole !== undefined) return { status: 200, contentType, body: await wholeList(list, form.whole) }
  const format = how.format === 'yaml' ? 'yaml' : 'json'
  const chunks = isPlain(how) ? listChunks(list, form) : listText(list, form, format)
  // A short list is one write with Content-Length; `soon` waits for the next batch within this turn of the event loop only.
  const begun = await chunks.next()
  const next = optional(chunks.next())
  const second = await soon(next)
  if (second?.done && !begun.done) return { status: 200, contentType, body: begun.value }
  return { status: 200, contentType, body: bodyOf(chunks, () => chunks.return(), [begun, next]) }
}

async function wholeList(list: ItemList, { element, encode }: WholeList): Promise<Buffer> {
  const elements: Buffer[] = []
  const pace = new Pace()
  let next = await list.next()
  for (; !next.done; next = await list.next())
    for (const item of next.value) {
      elements.push(await inTurns(element(item), pace))
      await pace.due()
    }
  return encode(elements, next.value)
}

const copyItem = (item: Item, target: Buffer, start: number): number =>
  item.copy?.(target, start) ?? item.bytes.copy(target, start)

/** A buffer of consecutive chunks. Items are copied into it; large batches are sent without it. */
class Outbox {
  #buffer = Buffer.allocUnsafe(worthAWrite)
  /** The start of the current chunk. */
  #from = 0
  #at = 0

  /** Whether `length` more bytes fit. */
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
  addItem(item: Item, copy = copyItem): void {
    this.#makeRoom(lengthOf(item))
    this.#at += copy(item, this.#buffer, this.#at)
  }
  take(): Buffer {
    const chunk = this.#buffer.subarray(this.#from, this.#at)
    // The next chunk uses the rest of the buffer, unless that is too small.
    this.#from = this.#at = this.#at + worthAChunk <= this.#buffer.length ? this.#at : this.#buffer.length
    return chunk
  }
  #makeRoom(length: number): void {
    if (this.fits(length)) return
    const begun = this.#at - this.#from
    const larger = Buffer.allocUnsafe(Math.max(worthAWrite, 2 * begun + length))
    this.#buffer.copy(larger, 0, this.#from, this.#at)
    this.#buffer = larger
    this.#from = 0
    this.#at = begun
  }
}

async function* listChunks(list: ItemList, form: ListForm): AsyncGenerator<Buffer, void> {
  const outbox = new Outbox()
  const pace = new Pace()
  outbox.addText(form.head)
  let separated = true
  try {
    let next = await list.next()
    for (; !next.done; next = await list.next()) {
      if (next.value.length === 0) continue
      // The batches of several lists arrive in one turn of the event loop, and an item may have to be decoded.
      if (isConverted(form)) await pace.next()
      if (!separated) outbox.addComma()
      for (const part of batchParts(next.value, form, { outbox, pace }))
        if (part instanceof Promise) await part
        else yield part
      separated = false
    }
    outbox.addText(`],"metadata":${JSON.stringify(next.value)}}\n`)
    yield outbox.take()
  } finally {
    await list.return({ resourceVersion: '' })
  }
}

const isConverted = ({ element, copy }: ListForm): boolean => element !== undefined && copy === undefined

interface Writing {
  readonly outbox: Outbox
  readonly pace: Pace
}

/**
 * The items of one batch, and the turns of others: an item can be decoded, or computed, where its bytes are needed. A small rest stays
 * in the outbox.
 */
function* batchParts(
  batch: ItemBatch,
  { element, copy }: ListForm,
  { outbox, pace }: Writing,
): Generator<Buffer | Promise<void>> {
  const whole = element === undefined ? batch.bytes : copy && batch.untyped
  if (whole !== undefined) {
    yield* slices(whole, outbox)
    return
  }
  let separated = true
  for (const item of batch) {
    if (!separated) outbox.addComma()
    if (element === undefined || copy !== undefined) outbox.addItem(item, copy)
    else outbox.add(element(item))
    separated = false
    if (!outbox.fits(room)) yield outbox.take()
    const wait = pace.due()
    if (wait !== undefined) yield wait
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
