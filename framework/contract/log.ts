import { type Logger as Pino, pino } from 'pino'

/** Writes structured log lines; `child` returns a logger that adds fields to each line. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: Record<string, unknown>): Logger
  /** Whether lines of a level are written, for lines that are expensive to make. */
  isLevelEnabled(level: 'debug'): boolean
}

/** A logger that writes JSON lines of `level` and above to stderr. */
export function createLogger(level: 'debug' | 'info' | 'warn' | 'error' | 'silent'): Logger {
  const logger: Pino = pino({ level, base: null }, pino.destination({ dest: 2, sync: false }))
  return logger
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
