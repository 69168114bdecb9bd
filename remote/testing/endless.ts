const piece = Buffer.alloc(256 * 1024, 'x')

/** A body that begins so and goes on with a string, until it is closed, or has 64 MiB. */
export class EndlessBody {
  readonly #head: string
  /** The bytes that were read. */
  read = 0
  isClosed = false

  constructor(head: string) {
    this.#head = head
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    try {
      yield Buffer.from(this.#head)
      for (; this.read < 64 * 1024 * 1024; this.read += piece.length) yield piece
    } finally {
      this.isClosed = true
    }
  }
}

/** The beginnings of lists, and what of them has no end. */
export const endlessLists = {
  'an item': '{"kind":"ConfigMapList","items":[{"metadata":{"name":"',
  'a text before its items': '{"kind":"',
  'a text between its items': '{"kind":"ConfigMapList","items":[{"metadata":{}},"',
  'a text behind its items': '{"items":[{"metadata":{}}],"kind":"',
}

/** The beginnings of watches, and what of them has no end. */
export const endlessWatches = {
  'the object of an event': '{"type":"ADDED","object":{"metadata":{"name":"',
  'a line that is no event': 'x',
  'the event behind another one':
    '{"type":"ADDED","object":{"metadata":{"resourceVersion":"7"}}}\n{"type":"ADDED","object":{"data":{"a":"',
}
