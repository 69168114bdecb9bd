import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Awaitable } from '../async/awaitable.ts'
import { StatusError, serviceUnavailable, tooLarge, tooManyRequests } from '../meta/errors.ts'
import { parseYaml, type YamlContent } from './yaml.ts'
import type { YamlAnswer } from './yamlworker.ts'

/** Characters of a document that is parsed at once, within a few milliseconds. */
const short = 4 * 1024
/** Documents that wait. */
const mostWaiting = 16
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

/**
 * Parses YAML. Long documents are parsed in a thread, one after the other, because the parser takes microseconds per
 * token.
 */
export class YamlReader {
  readonly #waiting: Waiting[] = []
  #current: Waiting | undefined
  #worker: Worker | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #thread: () => Worker

  constructor(start = thread) {
    this.#thread = start
  }

  /** Throws, or rejects with, what `parseYaml` throws; 413 after thirty seconds, and 429 if too many documents wait. */
  read(text: string): Awaitable<YamlContent> {
    if (text.length <= short) {
      const { value, duplicates } = parseYaml(text)
      return { value, duplicates }
    }
    if (this.#waiting.length >= mostWaiting)
      throw tooManyRequests('Too many YAML documents, please try again later.', 1)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, resolve, reject })
      this.#next()
    })
  }

  /** Ends the thread. */
  close(): void {
    const stopped = serviceUnavailable('the server is stopping')
    for (const { reject } of this.#waiting.splice(0)) reject(stopped)
    this.#end(stopped)
  }

  #next(): void {
    if (this.#current !== undefined) return
    this.#current = this.#waiting.shift()
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
    if (this.#waiting.length > 0) this.#next()
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'

const errorOf = (answer: Exclude<YamlAnswer, { content: YamlContent }>): Error =>
  'tooLarge' in answer
    ? new StatusError(413, 'RequestEntityTooLarge', answer.tooLarge)
    : new SyntaxError(answer.syntaxError)
