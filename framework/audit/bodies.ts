import { StringDecoder } from 'node:string_decoder'
import { mostMembers, TooManyMembers } from '../json/exactjson.ts'
import type { Steps } from '../json/json.ts'
import { parseJsonSteps } from '../json/jsonsteps.ts'
import type { Answer } from '../request/response.ts'
import { JsonPieces } from '../wire/jsonpieces.ts'
import { mostValues } from '../wire/parsebody.ts'
import { answerFields, protobufType } from '../wire/protobuf/fields.ts'
import { protobufSteps, TooManyValues } from '../wire/protobuf/parse.ts'
import { jsonOfYaml } from '../wire/yamlsource.ts'
import { withoutManagedFields } from './objects.ts'
import type { SharedRoom } from './sharedroom.ts'

/** Maximum length of recorded responses, in bytes. */
const mostRecorded = 10 * 1024 * 1024

/** Bytes in which line breaks are looked for in one step. */
const slice = 128 * 1024

/** The limits of what this server has encoded are those of what it stores. */
const unlimited = { members: Infinity, textLength: Infinity, values: Infinity }

/** What decoding a body throws that this server has not encoded. */
const unreadable = [SyntaxError, TooManyMembers, TooManyValues]

/** What a copy of a body needs to know of its request. */
export interface CopyOptions {
  readonly room: SharedRoom
  readonly user: string
  readonly omitManagedFields: boolean
}

/** How a body is encoded, and whether by this server. */
interface BodyForm {
  readonly format: 'json' | 'protobuf' | 'yaml'
  readonly isForeign: boolean
}

/** A copy of a body that is sent, to be recorded in JSON. */
export class BodyCopy {
  readonly #options: CopyOptions
  readonly #form: BodyForm
  #chunks: Buffer[] = []
  #length = 0
  #isComplete = false
  #isCut = false

  constructor(options: CopyOptions, form: BodyForm) {
    this.#options = options
    this.#form = form
  }

  get length(): number {
    return this.#length
  }

  /** It is too long, or has not been sent to its end. */
  get isCut(): boolean {
    return this.#isCut || (!this.#isComplete && this.#length > 0)
  }

  add(chunk: Buffer): void {
    const pieces = this.#form.format === 'yaml' ? jsonOfYaml(chunk) : [chunk]
    // Kubernetes records it, but to read the YAML of another server takes long.
    if (pieces === undefined) this.#cut()
    else for (const piece of pieces) this.#keep(piece)
  }

  #keep(chunk: Buffer): void {
    if (this.#isCut) return
    const { room, user } = this.#options
    const fits = this.#length + chunk.length <= mostRecorded && room.take(user, chunk.length)
    if (!fits) {
      this.#cut()
      return
    }
    this.#length += chunk.length
    this.#chunks.push(chunk)
  }

  complete(): void {
    this.#isComplete = true
  }

  /** It is not needed any more. */
  release(): void {
    const { room, user } = this.#options
    room.give(user, this.#length)
    this.#length = 0
    this.#chunks = []
  }

  #cut(): void {
    this.release()
    this.#isCut = true
  }

  /** The text on one line, in pieces; none without a text. */
  *json(): Steps<readonly Buffer[]> {
    if (this.#length === 0 || !this.#isComplete) return []
    const { format, isForeign } = this.#form
    if (format !== 'protobuf' && !isForeign && !this.#options.omitManagedFields) return yield* this.#line()
    try {
      return yield* this.#encodedAgain()
    } catch (error) {
      if (!unreadable.some(kind => error instanceof kind)) throw error
      this.#isCut = true
      return []
    }
  }

  /** JSON has line breaks between its tokens only. */
  *#line(): Steps<readonly Buffer[]> {
    const pieces: Buffer[] = []
    for (const piece of this.#slices()) {
      pieces.push(withoutBreaks(piece))
      yield
    }
    return pieces
  }

  *#slices(): Generator<Buffer> {
    for (const chunk of this.#chunks)
      for (let at = 0; at < chunk.length; at += slice) yield chunk.subarray(at, at + slice)
  }

  *#encodedAgain(): Steps<readonly Buffer[]> {
    const value = yield* this.#value()
    const pieces = new JsonPieces()
    yield* pieces.value(this.#options.omitManagedFields ? yield* withoutManagedFields(value) : value)
    return pieces.pieces()
  }

  *#value(): Steps<unknown> {
    const { format, isForeign } = this.#form
    if (format !== 'protobuf') return yield* parseJsonSteps(yield* this.#text(), isForeign ? {} : unlimited)
    const limits = isForeign ? { values: mostValues, members: mostMembers } : unlimited
    return yield* protobufSteps(Buffer.concat(this.#chunks), limits, answerFields)
  }

  *#text(): Steps<string> {
    const decoder = new StringDecoder('utf8')
    let text = ''
    for (const piece of this.#slices()) {
      text += decoder.write(piece)
      yield
    }
    return text + decoder.end()
  }
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

function withoutBreaks(piece: Buffer): Buffer {
  if (!piece.includes(lineFeed) && !piece.includes(carriageReturn)) return piece
  return Buffer.from(piece.toString('latin1').replace(/[\r\n]/g, ' '), 'latin1')
}

/** The same answer; the copy gets its body. Watches and forwarded responses are sent at once: others have encoded them. */
export function copied(
  answer: Answer,
  options: CopyOptions,
): { readonly answer: Answer; readonly copy?: BodyCopy } {
  const { body, contentType } = answer
  const format = formatOf(contentType)
  if (format === undefined) return { answer }
  const copy = new BodyCopy(options, { format, isForeign: answer.flush === true })
  if (!Buffer.isBuffer(body)) return { answer: { ...answer, body: copiedChunks(body, copy) }, copy }
  copy.add(body)
  copy.complete()
  return { answer, copy }
}

function formatOf(contentType: string): BodyForm['format'] | undefined {
  if (contentType.startsWith('application/json')) return 'json'
  if (contentType.startsWith('application/yaml')) return 'yaml'
  return contentType.startsWith(protobufType) ? 'protobuf' : undefined
}

async function* copiedChunks(body: AsyncIterable<Buffer>, copy: BodyCopy): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    copy.add(chunk)
    yield chunk
  }
  copy.complete()
}
