import type { OutgoingResponse } from './client.ts'
import { badGateway, failureOf } from './failure.ts'

/** The whole body as text. Rejects if it has more than `most` bytes, or ends early. */
export const textIn = async (body: OutgoingResponse['body'], most: number): Promise<string> =>
  (await bytesIn(body, most)).toString()

const tooLarge = (): Error => new Error('the response is too large')

/** The whole body. Rejects if it has more than `most` bytes, or ends early. */
async function bytesIn(
  body: OutgoingResponse['body'] | AsyncIterable<Buffer>,
  most: number,
  refusal: () => Error = tooLarge,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > most) throw refusal()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Bytes of a document or an object of a shard, and of an error. */
const [mostOfShard, mostOfError] = [64 * 1024 * 1024, 4 * 1024 * 1024]

/** The whole body of a shard, which is not streamed to a client. Throws 502, also for one that is too large. */
export const shardBytes = (
  body: OutgoingResponse['body'] | AsyncIterable<Buffer>,
  most = mostOfShard,
): Promise<Buffer> =>
  bytesIn(body, most, () => badGateway('its response is too large')).catch((error: unknown) => {
    throw failureOf(error)
  })

/** The text of an error of a shard. Throws what `shardBytes` throws. */
export const shardError = async (body: OutgoingResponse['body']): Promise<string> =>
  (await shardBytes(body, mostOfError)).toString()

/** The first bytes of a body, at most `most`. */
export async function headOf(body: OutgoingResponse['body'], most: number): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, most - length))
    length += chunk.length
    if (length >= most) break
  }
  return Buffer.concat(chunks).toString()
}

/** The JSON value of a text; undefined for text that is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
