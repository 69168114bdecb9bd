import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { workerSettings } from './invocation.ts'
import { type AdminTokens, type WorkerSaid, type WorkerTold, workerNumber } from './worker.ts'

/** Milliseconds before a worker that failed is started again, and for its answer to a question. */
const [pause, patience] = [1_000, 2_000]
/** Milliseconds for a worker to end after a signal: longer than a server takes, shorter than supervisors wait. */
const longestStop = 20_000

interface CrewOptions {
  readonly count: number
  /** A worker was started; called before its first message arrives. */
  readonly launched: (worker: Worker) => void
  readonly ready: (banner: string) => void
  /** The tokens of the administrators in all workers; undefined: they find them in their store. */
  readonly admins: AdminTokens | undefined
  /** A worker ended, and is started again. */
  readonly failed: (number: number, code: number) => void
}

/** Processes of the same program, which share the ports that they listen on (`node:cluster`). */
export class Crew {
  readonly #options: CrewOptions
  readonly #workers = new Map<number, Worker>()
  readonly #questions = new Map<number, Question>()
  #asked = 0
  #isStopping = false

  constructor(options: CrewOptions) {
    this.#options = options
  }

  /** Starts the first worker, and when it is ready the others. Rejects with the exit code of the first if it ends before. */
  async start(): Promise<void> {
    // Messages have values of stores, which are bytes.
    cluster.setupPrimary({ ...workerSettings(), serialization: 'advanced' })
    await this.#launch(1)
    await Promise.all(
      Array.from({ length: this.#options.count - 1 }, (_, i) => this.#launchUntilReady(i + 2)),
    )
  }

  /**
   * Ends all workers, and resolves with the exit code when they have ended: 1 if one of them failed. One that has just begun ends by the
   * signal itself. Kills those that ignore it, such as paused ones.
   */
  async stop(signal: NodeJS.Signals): Promise<0 | 1> {
    this.#isStopping = true
    const workers = [...this.#workers.values()]
    const ended = workers.map(worker => once(worker, 'exit'))
    const send = (signal: NodeJS.Signals) => {
      for (const worker of workers) worker.process.kill(signal)
    }
    send(signal)
    const timer = setTimeout(send, longestStop, 'SIGKILL')
    const ends = await Promise.all(ended)
    clearTimeout(timer)
    return ends.every(([code, by]) => code === 0 || by === signal) ? 0 : 1
  }

  #launch(number: number): Promise<void> {
    const worker = cluster.fork({ [workerNumber]: String(number) })
    this.#workers.set(number, worker)
    this.#options.launched(worker)
    return new Promise((resolve, reject) => {
      let isReady = false
      worker.on('message', (said: WorkerSaid) => {
        if (said.kind !== 'ready') return this.#hear(worker, said)
        isReady = true
        if (number === 1) this.#options.ready(said.banner)
        resolve()
      })
      worker.once('exit', code => {
        this.#workers.delete(number)
        if (!isReady) reject(new WorkerEnded(code))
        else if (!this.#isStopping) void this.#again(number, code)
      })
    })
  }

  async #again(number: number, code: number): Promise<void> {
    if (this.#isStopping) return
    this.#options.failed(number, code)
    await sleep(pause)
    if (!this.#isStopping) await this.#launchUntilReady(number)
  }

  async #launchUntilReady(number: number): Promise<void> {
    await this.#launch(number).catch(({ code }: WorkerEnded) => this.#again(number, code))
  }

  #hear(worker: Worker, said: Exclude<WorkerSaid, { readonly kind: 'ready' }>): void {
    if (said.kind === 'ask') this.#ask(worker, said.id)
    else if (said.kind === 'answer') this.#questions.get(said.id)?.answer(worker, said.text)
    else if (said.kind === 'askAdmins')
      worker.send({ kind: 'admins', tokens: this.#options.admins } satisfies WorkerTold)
  }

  #ask(by: Worker, id: number): void {
    const own = ++this.#asked
    const others = [...this.#workers.values()].filter(worker => worker.isConnected())
    const question = new Question(others.length, texts => {
      this.#questions.delete(own)
      if (by.isConnected()) by.send({ kind: 'answers', id, texts } satisfies WorkerTold)
    })
    this.#questions.set(own, question)
    for (const worker of others) worker.send({ kind: 'asked', id: own } satisfies WorkerTold)
  }
}

/** A worker ended before it was ready. */
export class WorkerEnded extends Error {
  readonly code: number
  constructor(code: number) {
    super(`a replica ended with code ${code}`)
    this.code = code
  }
}

/** The answers of all workers, or those within the time. */
class Question {
  readonly #answers = new Map<Worker, string>()
  readonly #missing: number
  readonly #done: () => void

  constructor(missing: number, done: (texts: readonly string[]) => void) {
    this.#missing = missing
    const timer = setTimeout(() => this.#done(), patience)
    this.#done = () => {
      clearTimeout(timer)
      done([...this.#answers.values()])
    }
  }

  answer(worker: Worker, text: string): void {
    this.#answers.set(worker, text)
    if (this.#answers.size === this.#missing) this.#done()
  }
}
