import { DocumentMemory } from '../documentmemory.ts'
import { documentOf } from '../documents.ts'
import type { ShardPart } from '../part.ts'

/** A shard that answers every request with this text, in chunks that are there at once. */
export const answering = (text: string, chunk = 64 * 1024): ShardPart => ({
  shard: 'alpha',
  ask: async () =>
    ({
      statusCode: 200,
      headers: { 'content-type': 'application/json' },
      body: chunksOf(text, chunk),
    }) as never,
})

/** The documents of shards together, for a reader that nobody else disturbs. */
export const documentIn = (parts: readonly ShardPart[]): ReturnType<typeof documentOf> =>
  documentOf(parts, {
    memory: new DocumentMemory(),
    reader: { account: 'ada', signal: new AbortController().signal },
  })

/** All chunks of a body. */
export async function chunksIn(body: AsyncIterable<Buffer>): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return chunks
}

async function* chunksOf(text: string, length: number): AsyncGenerator<Buffer, void> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}
