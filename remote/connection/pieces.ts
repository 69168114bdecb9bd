/** Less than this is not worth looking at alone. */
const worthReading = 128 * 1024

/** The bytes of a long answer in pieces that are worth it: a shard sends a list a few objects at a time. */
export async function* pieces(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let waiting: Buffer[] = []
  let length = 0
  for await (const piece of body) {
    waiting.push(piece)
    length += piece.length
    if (length < worthReading) continue
    yield Buffer.concat(waiting, length)
    waiting = []
    length = 0
  }
  if (length > 0) yield Buffer.concat(waiting, length)
}
