import type { Worker } from 'node:worker_threads'
import { serviceUnavailable, tooLarge, tooManyRequests } from '../meta/errors.ts'

/** The maximum number of questions that wait. */
const mostWaiting = 64
/** Milliseconds after which a question is given up, or an idle thread ends. */
const patience = 30_000

interface Waiting<Question, Answer> {
  readonly question: Question
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

/** The questions that wait, by account; the next is of the account at the front, who then moves to the end. */
class WaitingQuestions<Question, Answer> {
  readonly #byUser = new Map<string, Waiting<Question, Answer>[]>()
  size = 0

  add(account: string, question: Waiting<Question, Answer>): void {
    const own = this.#byUser.get(account)
    if (own === undefined) this.#byUser.set(account, [question])
    else own.push(question)
    this.size++
  }

  next(): Waiting<Question, Answer> | undefined {
    for (const [account, questions] of this.#byUser) {
      const found = questions.shift()
      this.#byUser.delete(account)
      if (questions.length > 0) this.#byUser.set(account, questions)
      this.size--
      return found
    }
    return undefined
  }

  /** Removes the newest question of the account with the most. */
  shed(): Waiting<Question, Answer> | undefined {
    const lengths = [...this.#byUser].map(([account, { length }]) => ({ account, length }))
    const { account } = lengths.reduce((most, each) => (each.length >= most.length ? each : most))
    const questions = this.#byUser.get(account) ?? []
    if (questions.length === 1) this.#byUser.delete(account)
    this.size--
    return questions.pop()
  }
}

/** How a thread starts, and what errors call its work. */
export interface ThreadOptions {
  /** The thread sends one answer to each message. */
  readonly start: () => Worker
  /** `YAML`: `limit of YAML is 30 seconds` */
  readonly subject: string
  /** `YAML documents`: `Too many YAML documents, please try again later.` */
  readonly questions: string
}

/** A thread that answers one question after the other, in turn for each account. It starts with a question, and ends when it is idle. */
export class FairThread<Question, Answer> {
  readonly #options: ThreadOptions
  readonly #waiting = new WaitingQuestions<Question, Answer>()
  #current: Waiting<Question, Answer> | undefined
  #worker: Worker | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  /**
   * Rejects with 413 after thirty seconds and when the thread is out of memory, and with 429 if too many questions wait and the account has
   * the most.
   */
  ask(question: Question, account: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(account, { question, resolve, reject })
      if (this.#waiting.size > mostWaiting) this.#waiting.shed()?.reject(this.#tooMany())
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
    try {
      this.#worker ??= this.#start()
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)))
      return
    }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#end(this.#limit(`${patience / 1000} seconds`)), patience)
    this.#timer.unref()
    this.#ask(this.#worker)
  }

  /** The thread keeps the process alive while it has a question. */
  #ask(worker: Worker): void {
    if (this.#current === undefined) worker.unref()
    else {
      worker.ref()
      worker.postMessage(this.#current.question)
    }
  }

  #start(): Worker {
    const worker = this.#options.start()
    worker.on('message', (answer: Answer) => {
      // A thread that was given up may have sent its answer before it ended.
      if (worker === this.#worker) this.#answered(answer)
    })
    worker.on('error', error => {
      if (worker === this.#worker) this.#end(isOutOfMemory(error) ? this.#limit('its memory') : error)
    })
    return worker
  }

  #answered(answer: Answer): void {
    const current = this.#current
    this.#current = undefined
    current?.resolve(answer)
    this.#next()
  }

  /** Ends the thread and the question that it works on; the next question starts another. */
  #end(error: Error): void {
    const [current, worker] = [this.#current, this.#worker]
    clearTimeout(this.#timer)
    this.#current = undefined
    this.#worker = undefined
    void worker?.terminate()
    current?.reject(error)
    if (this.#waiting.size > 0) this.#next()
  }

  #tooMany(): Error {
    return tooManyRequests(`Too many ${this.#options.questions}, please try again later.`, 1)
  }

  #limit(text: string): Error {
    return tooLarge(`limit of ${this.#options.subject} is ${text}`)
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
