/** Bytes of changes that are kept at least, before they are too old. */
const mostHistory = 1024 ** 3
const parts = 4

/** Where the history of etcd is cut because of its bytes, which count for the quota of its database. */
export class HistoryMarks {
  readonly #part: number
  /** The first ends the oldest part that is kept. */
  readonly #marks: number[] = []
  #bytes = 0
  #revision = 0

  constructor(most = mostHistory) {
    this.#part = most / parts
  }

  /** Counts the changes up to a revision, once. Returns the revision up to which history is dropped; 0: none. */
  add(revision: number, bytes: number): number {
    if (revision <= this.#revision) return 0
    this.#revision = revision
    this.#bytes += bytes
    if (this.#bytes < this.#part) return 0
    this.#bytes = 0
    this.#marks.push(revision)
    return this.#marks.length > parts ? (this.#marks.shift() ?? 0) : 0
  }
}
