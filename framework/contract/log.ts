import { type Logger as Pino, pino } from 'pino'

/** Structured log lines; `child` adds fields. The only file that knows the log package. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: Record<string, unknown>): Logger
  /** Whether lines of a level are written: for lines that cost something to make. */
  isLevelEnabled(level: 'debug'): boolean
}

/** JSON lines on stderr at `level` and above. */
export function createLogger(level: 'debug' | 'info' | 'warn' | 'error' | 'silent'): Logger {
  const logger: Pino = pino({ level, base: null }, pino.destination({ dest: 2, sync: false }))
  return logger
}

const nothing = (): void => undefined
/** Swallows everything; for tests and for callers that do not care. */
export const silent: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silent,
  isLevelEnabled: () => false,
}
