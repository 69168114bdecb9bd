import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import type { AuditEvent, AuditSink } from '../../framework/audit/index.ts'
import type { Logger } from '../../framework/contract/log.ts'
import { formatJson } from '../../framework/json/json.ts'
import { StartError } from '../files/starterror.ts'

export interface AuditLogOptions {
  /** `-` is standard output. */
  readonly path: string
  /** Bytes at which the file is rotated. */
  readonly maxSize: number
  /** Rotated files that are kept; 0: all. */
  readonly maxBackups: number
  /** Milliseconds that rotated files are kept; 0: no limit. */
  readonly maxAge: number
}

/**
 * Writes one event per line, synchronously, before the response ends, so that no event is lost when the process ends.
 * Throws `StartError` when the file cannot be opened.
 */
export function auditLog(options: AuditLogOptions, log: Logger): AuditSink {
  if (options.path === '-')
    return { write: event => void process.stdout.write(lineOf(event)), close: async () => undefined }
  let file = openForAppend(options.path)
  const write = (line: string): void => {
    const length = Buffer.byteLength(line)
    if (file.size > 0 && file.size + length > options.maxSize) file = rotate(file, options)
    writeSync(file.descriptor, line)
    file.size += length
  }
  return {
    write(event) {
      try {
        write(lineOf(event))
      } catch (error) {
        log.error({ error: String(error) }, 'writing an audit event failed')
      }
    },
    close: async () => closeSync(file.descriptor),
  }
}

const lineOf = (event: AuditEvent): string => `${formatJson(event)}\n`

interface LogFile {
  readonly descriptor: number
  size: number
}

function openForAppend(path: string): LogFile {
  try {
    mkdirSync(dirname(path), { recursive: true })
    // Audit events contain user names and objects: only the owner may read them.
    const descriptor = openSync(path, 'a', 0o600)
    return { descriptor, size: fstatSync(descriptor).size }
  } catch (error) {
    throw new StartError(
      `Opening the audit log ${path} failed (${(error as Error).message}): choose another --audit-log-path.`,
    )
  }
}

function rotate(full: LogFile, options: AuditLogOptions): LogFile {
  closeSync(full.descriptor)
  const { path } = options
  renameSync(path, nextName(path))
  removeOld(options)
  return openForAppend(path)
}

/** `audit-2026-08-11T09-13-44.362.log`, as in kube-apiserver; always later than the newest rotated file. */
function nextName(path: string): string {
  const [newest] = backupsOf(path)
  const extension = extname(path)
  const stem = path.slice(0, path.length - extension.length)
  const time = Math.max(Date.now(), newest === undefined ? 0 : timeIn(newest) + 1)
  return `${stem}-${new Date(time).toISOString().slice(0, -1).replaceAll(':', '-')}${extension}`
}

/** Milliseconds since the epoch, from the name of a rotated file. */
function timeIn(backup: string): number {
  const [, date, hours, rest] = /-(\d{4}-\d{2}-\d{2}T)(\d{2})-([\d.-]+\.\d{3})/.exec(basename(backup)) ?? []
  return Date.parse(`${date}${hours}:${rest?.replace('-', ':')}Z`) || 0
}

function removeOld({ path, maxBackups, maxAge }: AuditLogOptions): void {
  const oldest = maxAge === 0 ? 0 : Date.now() - maxAge
  const backups = backupsOf(path)
  const surplus = maxBackups === 0 ? [] : backups.slice(maxBackups)
  const expired = backups.filter(backup => statSync(backup).mtimeMs < oldest)
  for (const backup of new Set([...surplus, ...expired])) unlinkSync(backup)
}

/** Newest first. */
function backupsOf(path: string): readonly string[] {
  const extension = extname(path)
  const prefix = `${basename(path, extension)}-`
  const stamp = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.\d{3}$/
  const isBackup = (name: string): boolean =>
    name.startsWith(prefix) &&
    name.endsWith(extension) &&
    stamp.test(name.slice(prefix.length, name.length - extension.length))
  const directory = dirname(path)
  return readdirSync(directory)
    .filter(isBackup)
    .toSorted()
    .toReversed()
    .map(name => join(directory, name))
}
