import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Awaitable } from '../async/awaitable.ts'
import { StatusError, serviceUnavailable, tooLarge, tooManyRequests } from '../meta/errors.ts'
import { parseYaml, type YamlContent } from './yaml.ts'
import type { YamlAnswer } from './yamlworker.ts'

/** Characters of a document that is parsed at once, within a few milliseconds. */
const short = 4 * 1024
/** The maximum number of documents that wait. */
const mostWaiting = 64
/** Milliseconds after which a document is given up, or an idle thread ends. */
const parseTimeout = 30_000
/** Megabytes of the heap of the thread: a document of 3 MB takes a tenth. */
const mostHeap = 1_024

/** The thread, from the file beside this one: in the sources, compiled, or in the bundle. */
const thread = (): Worker =>
  new Worker(join(import.meta.dirname, `yamlworker${extname(import.meta.filename)}`), {
    resourceLimits: { maxOldGenerationSizeMb: mostHeap },
  })

interface Waiting {
  readonly text: string
  readonly resolve: (content: YamlContent) => void
  readonly reject: (error: Error) => void
}

/** The documents that wait, by user; the next is of the user at the front, who then moves to the end. */
class WaitingDocuments {
  readonly #byUser = new Map<string, Waiting[]>()
  size = 0

  add(user: string, document: Waiting): void {
    const own = this.#byUser.get(user)
    if (own === undefined) this.#byUser.set(user, [document])
    else own.push(document)
    this.size++
  }

  next(): Waiting | undefined {
    for (const [user, documents] of this.#byUser) {
      const found = documents.shift()
      this.#byUser.delete(user)
      if (documents.length > 0) this.#byUser.set(user, documents)
      this.size--
      return found
    }
    return undefined
  }

  /** Removes the newest document of the user with the most. */
  shed(): Waiting | undefined {
    const lengths = [...this.#byUser].map(([user, { length }]) => ({ user, length }))
    const { user } = lengths.reduce((most, each) => (each.length >= most.length ? each : most))
    const documents = this.#byUser.get(user) ?? []
    if (documents.length === 1) this.#byUser.delete(user)
    this.size--
    return documents.pop()
  }
}

/**
 * Parses YAML. Long documents are parsed in a thread, one after the other and in turn for each user, because the parser
 * takes microseconds per token.
 */
export class YamlReader {
  readonly #waiting = new WaitingDocuments()
  #current: Waiting | undefined
  #worker: Worker | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #thread: () => Worker

  constructor(start = thread) {
    this.#thread = start
  }

  /**
   * Throws, or rejects with, what `parseYaml` throws; 413 after thirty seconds, and 429 if too many documents wait and the
   * user has the most.
   */
  read(text: string, user: string): Awaitable<YamlContent> {
    if (text.length <= short) {
      const { value, duplicates } = parseYaml(text)
      return { value, duplicates }
    }
    return new Promise((resolve, reject) => {
      this.#waiting.add(user, { text, resolve, reject })
      if (this.#waiting.size > mostWaiting)
        this.#waiting.shed()?.reject(tooManyRequests('Too many YAML documents, please try again later.', 1))
      this.#next()
    })
  }

  /** Ends the thread. */
  close(): void {
    const stopped = serviceUnavailable('the server is stopping')
    while (this.#waiting.size > 0) this.#waiting.next()?.reject(stopped)
    this.#end(stopped)
  }

  #next(): void {
    if (this.#current !== undefined) return
    this.#current = this.#waiting.next()
    this.#worker ??= this.#start()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => this.#end(tooLarge(`limit of YAML is ${parseTimeout / 1000} seconds`)),
      parseTimeout,
    )
    this.#timer.unref()
    if (this.#current !== undefined) this.#worker.postMessage(this.#current.text)
  }

  #start(): Worker {
    const worker = this.#thread()
    worker.unref()
    worker.on('message', (answer: YamlAnswer) => this.#answered(answer))
    worker.on('error', error => {
      if (worker === this.#worker)
        this.#end(isOutOfMemory(error) ? tooLarge('limit of YAML is its memory') : error)
    })
    return worker
  }

  #answered(answer: YamlAnswer): void {
    const current = this.#current
    this.#current = undefined
    if ('content' in answer) current?.resolve(answer.content)
    else current?.reject(errorOf(answer))
    this.#next()
  }

  /** Ends the thread and the document that it parses; the next document starts another. */
  #end(error: Error): void {
    const [current, worker] = [this.#current, this.#worker]
    clearTimeout(this.#timer)
    this.#current = undefined
    this.#worker = undefined
    void worker?.terminate()
    current?.reject(error)
    if (this.#waiting.size > 0) this.#next()
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'

const errorOf = (answer: Exclude<YamlAnswer, { content: YamlContent }>): Error =>
  'tooLarge' in answer
    ? new StatusError(413, 'RequestEntityTooLarge', answer.tooLarge)
    : new SyntaxError(answer.syntaxError)
