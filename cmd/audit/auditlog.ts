import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AuditMeters,
  type AuditRecord,
  type AuditSink,
  WaitingEvents,
} from '../../framework/audit/index.ts'
import type { Logger } from '../../framework/contract/log.ts'
import { StartError } from '../files/starterror.ts'
import { LogFile, type LogFileOptions } from './logfile.ts'

export interface AuditLogOptions extends LogFileOptions {
  readonly meters: AuditMeters
  /** Milliseconds until the file is written again after an error; default 1,000. */
  readonly pause?: number
}

/** Waiting events of a slow or full disk. */
const limits = { buffer: 100_000, bytes: 128 * 1024 * 1024 }

/** Events of one write. */
const portion = { events: 1000, bytes: 1024 * 1024 }

/**
 * Writes one event per line. The events of the requests in one turn of the event loop are written together, by a thread: a slow disk
 * delays no request. Rejects with `StartError` when the file cannot be opened.
 */
export async function auditLog(options: AuditLogOptions, log: Logger): Promise<AuditSink> {
  if (options.path === '-')
    return {
      write: ({ json }) => void process.stdout.write(Buffer.concat([...json.pieces, Buffer.from('\n')])),
      close: async () => undefined,
    }
  const file = await LogFile.open(options, log).catch(error => {
    throw new StartError(
      `Opening the audit log ${options.path} failed (${error.message}): choose another --audit-log-path.`,
    )
  })
  return new FileSink(file, options, log)
}

class FileSink implements AuditSink {
  readonly #file: LogFile
  readonly #options: AuditLogOptions
  readonly #log: Logger
  readonly #waiting: WaitingEvents
  readonly #closing = new AbortController()
  #running: Promise<void> | undefined
  /** Events that are being written. */
  #inWrite = 0
  #hasFailed = false

  constructor(file: LogFile, options: AuditLogOptions, log: Logger) {
    this.#file = file
    this.#options = options
    this.#log = log
    this.#waiting = new WaitingEvents({ ...limits, plugin: 'log', meters: options.meters, log })
    process.on('exit', this.#atExit)
  }

  write(record: AuditRecord): void {
    this.#waiting.add(record)
    this.#running ??= this.#run()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
    process.off('exit', this.#atExit)
    await this.#file.close()
  }

  async #run(): Promise<void> {
    while (this.#waiting.count > 0) await this.#writeSome()
    this.#running = undefined
  }

  /** After an error the events wait: a full disk may have room again. */
  async #writeSome(): Promise<void> {
    const lines = this.#waiting.first(portion)
    this.#inWrite = lines.length
    const { written, error } = await this.#file.append(lines)
    this.#inWrite = 0
    this.#waiting.remove(written)
    if (error !== undefined) await this.#failed(error)
    else this.#hasFailed = false
    this.#waiting.report()
  }

  async #failed(error: unknown): Promise<void> {
    const { signal } = this.#closing
    if (!this.#hasFailed)
      this.#log.error({ error: String(error) }, 'writing audit events failed, trying again')
    this.#hasFailed = true
    if (signal.aborted) return this.#giveUp()
    await sleep(this.#options.pause ?? 1000, undefined, { signal, ref: false }).catch(() => undefined)
  }

  #giveUp(): void {
    const events = this.#waiting.count
    this.#options.meters.lost('log', events)
    this.#log.error({ events }, 'audit events lost')
    this.#waiting.remove(events)
  }

  readonly #atExit = (): void => {
    const all = { events: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY }
    const lines = this.#waiting.first(all).slice(this.#inWrite)
    if (lines.length > 0) this.#file.appendAtExit(lines)
  }
}
