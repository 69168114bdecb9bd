import type { Answer } from '../request/response.ts'

/** Larger answers are not recorded, in bytes. */
const limit = 10 * 1024 * 1024

/** What was sent to a client, as far as it is kept. */
export class BodyCopy {
  readonly #chunks: Buffer[] = []
  #length = 0
  contentType = ''

  add(chunk: Buffer): void {
    this.#length += chunk.length
    if (this.#length <= limit) this.#chunks.push(chunk)
    else this.#chunks.length = 0
  }

  /** Empty when nothing was kept. */
  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  /** The value of a JSON body; undefined for anything else. */
  get json(): unknown {
    if (this.#chunks.length === 0 || !this.contentType.startsWith('application/json')) return undefined
    try {
      return JSON.parse(this.bytes.toString('utf8'))
    } catch {
      // Cut off by a client that left.
      return undefined
    }
  }
}

const beginsStatus = /^\{"(kind":"Status"|apiVersion":"v1","kind":"Status"|metadata":\{\},"status":")/

/** The same answer, whose body is copied as it goes: all of it, or only what says how the request ended. */
export function keepBody(answer: Answer, copy: BodyCopy, everything: boolean): Answer {
  const { body, status, contentType } = answer
  copy.contentType = contentType
  if (Buffer.isBuffer(body)) {
    const says = status >= 400 || beginsStatus.test(body.subarray(0, 64).toString('latin1'))
    if (everything || says) copy.add(body)
    return answer
  }
  return everything ? { ...answer, body: copied(body, copy) } : answer
}

async function* copied(body: AsyncIterable<Buffer>, copy: BodyCopy): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    copy.add(chunk)
    yield chunk
  }
}
