import { type Logger as Pino, pino } from 'pino'
import { escapeMisleading } from '../json/unprintable.ts'

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof logLevels)[number]

/** The level for a verbosity of klog. */
export const levelOfVerbosity = (verbosity: number): LogLevel =>
  verbosity < 2 ? 'warn' : verbosity < 4 ? 'info' : 'debug'

/** Writes structured log lines; `child` returns a logger that adds fields to each line. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: Record<string, unknown>): Logger
  /** Whether lines of a level are written, for lines that are expensive to make. */
  isLevelEnabled(level: 'debug'): boolean
  /** Changes the level of this logger and of its children. Absent in children. */
  setLevel?(level: LogLevel): void
}

/** Bytes of lines that wait while nobody reads stderr. */
const mostWaiting = 16 * 1024 * 1024

/**
 * A logger that writes JSON lines of `level` and above to stderr, whose texts cannot mislead a terminal. Lines beyond those that may
 * wait are dropped, and their number is logged.
 */
export function createLogger(level: LogLevel): Logger {
  const destination = pino.destination({ dest: 2, sync: false, maxLength: mostWaiting })
  const write = (line: string) => destination.write(escapeMisleading(line))
  const logger: Pino = pino({ level, base: null }, { write })
  let dropped = 0
  destination.on('drop', () => dropped++)
  destination.on('drain', () => {
    if (dropped === 0) return
    const lines = dropped
    dropped = 0
    logger.error({ lines }, 'log lines were dropped because nobody has read standard error')
  })
  return Object.assign(logger, {
    child: (fields: Record<string, unknown>): Logger => new ChildLogger(logger, fields),
    setLevel(next: LogLevel) {
      logger.level = next
    },
  })
}

/** Unlike pino's children, it follows the level of the logger. */
class ChildLogger implements Logger {
  readonly #logger: Pino
  readonly #fields: object

  constructor(logger: Pino, fields: object) {
    this.#logger = logger
    this.#fields = fields
  }

  debug(fields: object, message: string): void {
    if (this.#logger.isLevelEnabled('debug')) this.#logger.debug({ ...this.#fields, ...fields }, message)
  }

  info(fields: object, message: string): void {
    this.#logger.info({ ...this.#fields, ...fields }, message)
  }

  warn(fields: object, message: string): void {
    this.#logger.warn({ ...this.#fields, ...fields }, message)
  }

  error(fields: object, message: string): void {
    this.#logger.error({ ...this.#fields, ...fields }, message)
  }

  child(fields: Record<string, unknown>): Logger {
    return new ChildLogger(this.#logger, { ...this.#fields, ...fields })
  }

  isLevelEnabled(level: 'debug'): boolean {
    return this.#logger.isLevelEnabled(level)
  }
}

const nothing = (): void => undefined
/** A logger that writes nothing. */
export const silent: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silent,
  isLevelEnabled: () => false,
}
