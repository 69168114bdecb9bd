import { Pace } from '../../framework/async/awaitable.ts'
import { shardBytes } from '../../framework/net/bodies.ts'
import type { OutgoingResponse } from '../../framework/net/client.ts'
import { badGateway } from '../../framework/net/failure.ts'
import type { Answer } from '../../framework/request/response.ts'
import type { DocumentMemory, DocumentReader } from './documentmemory.ts'
import { askAll, type ShardPart } from './part.ts'
import { readValue, united } from './union.ts'

/** What counts the bytes of the documents, and who reads them. */
export interface DocumentReading {
  readonly memory: DocumentMemory
  readonly reader: DocumentReader
}

/** Discovery and OpenAPI: the documents of all shards together. Throws 404 if no shard has the document, and 429 if many are being read. */
export async function documentOf(
  parts: readonly ShardPart[],
  { memory, reader }: DocumentReading,
): Promise<Answer> {
  // The hash is that of the document of one shard.
  const answers = await askAll(parts, part => part.ask({ hash: undefined }))
  const found = answers.filter(answer => answer !== undefined)
  const count = memory.counterFor(reader)
  const bodies = await Promise.all(found.map(({ body }) => shardBytes(counted(body, count))))
  const contentType = String(found[0]?.headers['content-type'] ?? 'application/json')
  const isJson = contentType.startsWith('application/json')
  const [first = Buffer.alloc(0)] = bodies
  if (isJson && bodies.some(([byte]) => byte !== openingBrace))
    throw badGateway('its response is not a document')
  return { status: 200, contentType, body: isJson && bodies.length > 1 ? written(bodies) : first }
}

/** A body whose bytes are counted as they arrive. */
async function* counted(
  body: OutgoingResponse['body'],
  count: (bytes: number) => void,
): AsyncGenerator<Buffer, void> {
  for await (const chunk of body as AsyncIterable<Buffer>) {
    count(chunk.length)
    yield chunk
  }
}

const openingBrace = 0x7b

/** Bytes of a chunk. */
const enough = 64 * 1024

/** The documents as one, in chunks; other requests have their turns in between. */
async function* written(documents: readonly Buffer[]): AsyncGenerator<Buffer, void> {
  const pace = new Pace()
  let [waiting, length]: [Buffer[], number] = [[], 0]
  for (const piece of unitedDocuments(documents)) {
    waiting.push(piece)
    length += piece.length
    if (length >= enough) {
      yield Buffer.concat(waiting, length)
      waiting = []
      length = 0
    }
    const wait = pace.due()
    if (wait !== undefined) await wait
  }
  yield Buffer.concat(waiting, length)
}

/** The pieces of the united documents, some of them empty; the first document takes precedence. */
function* unitedDocuments(documents: readonly Buffer[]): Generator<Buffer, void> {
  const values = []
  for (const bytes of documents) values.push(yield* readValue(bytes, 0))
  yield* united(values)
}
