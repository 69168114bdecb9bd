import { writeSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { JsonLine } from '../../framework/audit/index.ts'
import type { Logger } from '../../framework/contract/log.ts'

export interface LogFileOptions {
  readonly path: string
  /** Bytes at which the file is rotated. */
  readonly maxSize: number
  /** Rotated files that are kept; 0: all. */
  readonly maxBackups: number
  /** Milliseconds that rotated files are kept; 0: no limit. */
  readonly maxAge: number
}

const lineEnd = Buffer.from('\n')

/** A log file of whole lines, which is rotated when it is full. One call at a time. */
export class LogFile {
  readonly #options: LogFileOptions
  readonly #log: Logger
  #file: FileHandle
  #size: number
  /** Bytes at which the file is rotated: more after a rotation that has failed. */
  #limit: number
  /** The file ends within a line: a write has failed, or a process has ended. */
  #isTorn = false

  private constructor(options: LogFileOptions, log: Logger, opened: Opened) {
    this.#options = options
    this.#log = log
    this.#file = opened.file
    this.#size = opened.size
    this.#isTorn = opened.isTorn
    this.#limit = options.maxSize
  }

  static async open(options: LogFileOptions, log: Logger): Promise<LogFile> {
    await mkdir(dirname(options.path), { recursive: true })
    return new LogFile(options, log, await openForAppend(options.path))
  }

  /** Appends lines without their ends. Returns how many are written, and the error that has ended the writing. */
  async append(lines: readonly JsonLine[]): Promise<{ readonly written: number; readonly error?: unknown }> {
    let written = 0
    try {
      while (written < lines.length) {
        const portion = await this.#portion(lines.slice(written))
        await this.#write(portion.flatMap(({ pieces }) => [...pieces, lineEnd]))
        written += portion.length
      }
      return { written }
    } catch (error) {
      return { written, error }
    }
  }

  /** The lines that fit into the file, and one at least. */
  async #portion(lines: readonly JsonLine[]): Promise<readonly JsonLine[]> {
    const [first] = lines
    if (first !== undefined && this.#size > 0 && this.#size + first.length + 1 > this.#limit)
      await this.#rotate()
    let bytes = this.#size
    const surplus = lines.findIndex((line, i) => {
      bytes += line.length + 1
      return i > 0 && bytes > this.#limit
    })
    return surplus < 0 ? lines : lines.slice(0, surplus)
  }

  async #write(pieces: readonly Buffer[]): Promise<void> {
    if (this.#isTorn) await this.#writeAll([lineEnd])
    this.#isTorn = false
    const before = this.#size
    try {
      await this.#writeAll(pieces)
    } catch (error) {
      this.#isTorn = this.#size > before
      throw error
    }
  }

  async #writeAll(pieces: readonly Buffer[]): Promise<void> {
    for (let left = pieces; left.length > 0; ) {
      const { bytesWritten } = await this.#file.writev(left.slice(0, mostPieces))
      this.#size += bytesWritten
      left = behind(left, bytesWritten)
    }
  }

  /** Appends lines when the process ends. */
  appendAtExit(lines: readonly JsonLine[]): void {
    writeSync(this.#file.fd, Buffer.concat(lines.flatMap(({ pieces }) => [...pieces, lineEnd])))
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  /** The file stays open until there is another one: a descriptor that is closed may become that of another file. */
  async #rotate(): Promise<void> {
    const { path, maxSize } = this.#options
    this.#limit = this.#size + maxSize
    try {
      await renameIfThere(path, await nextName(path))
      const full = this.#file
      const opened = await openForAppend(path)
      this.#file = opened.file
      this.#size = opened.size
      this.#isTorn = opened.isTorn
      this.#limit = maxSize
      await full.close()
      await removeOld(this.#options)
    } catch (error) {
      this.#log.error({ error: String(error) }, 'rotating the audit log failed')
    }
  }
}

/** Of one write: the system has a limit. */
const mostPieces = 1024

/** The pieces without their first bytes. */
function behind(pieces: readonly Buffer[], bytes: number): readonly Buffer[] {
  let left = bytes
  const first = pieces.findIndex(({ length }) => {
    if (length > left) return true
    left -= length
    return false
  })
  const [cut, ...others] = first < 0 ? [] : pieces.slice(first)
  return cut === undefined ? [] : [cut.subarray(left), ...others]
}

interface Opened {
  readonly file: FileHandle
  readonly size: number
  readonly isTorn: boolean
}

/** Audit events contain user names and objects: only the owner may read them. */
async function openForAppend(path: string): Promise<Opened> {
  const file = await open(path, 'a+', 0o600)
  const { size } = await file.stat()
  const { buffer } = size === 0 ? { buffer: lineEnd } : await file.read(Buffer.alloc(1), 0, 1, size - 1)
  return { file, size, isTorn: !buffer.equals(lineEnd) }
}

/** Somebody else may have moved the file. */
const renameIfThere = (from: string, to: string): Promise<void> =>
  rename(from, to).catch(error => {
    if (error.code !== 'ENOENT') throw error
  })

/** `audit-2026-08-11T09-13-44.362.log`, as in kube-apiserver; always later than the newest rotated file. */
async function nextName(path: string): Promise<string> {
  const [newest] = await backupsOf(path)
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

async function removeOld({ path, maxBackups, maxAge }: LogFileOptions): Promise<void> {
  const oldest = maxAge === 0 ? 0 : Date.now() - maxAge
  const backups = await backupsOf(path)
  const surplus = new Set(maxBackups === 0 ? [] : backups.slice(maxBackups))
  for (const backup of backups)
    if (surplus.has(backup) || (await stat(backup)).mtimeMs < oldest) await unlink(backup)
}

/** Newest first. */
async function backupsOf(path: string): Promise<readonly string[]> {
  const extension = extname(path)
  const prefix = `${basename(path, extension)}-`
  const stamp = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.\d{3}$/
  const isBackup = (name: string): boolean =>
    name.startsWith(prefix) &&
    name.endsWith(extension) &&
    stamp.test(name.slice(prefix.length, name.length - extension.length))
  const directory = dirname(path)
  return (await readdir(directory))
    .filter(isBackup)
    .toSorted()
    .toReversed()
    .map(name => join(directory, name))
}
