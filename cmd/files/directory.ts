import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { access, constants, mkdir, realpath, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf, StartError } from './starterror.ts'

/** The file in a data directory that every server writes when it starts: the SHA-256 of the token of `shard-admin`. */
export const adminTokenFile = (directory: string): string => join(directory, '.admin-token-store')

/** A data directory, locked by this process until `release()` or the end of the process. */
export interface DataDirectory {
  readonly path: string
  release(): Promise<void>
}

/**
 * Creates and locks the directory. `isWorker`: the process that started this one has locked it. Throws `StartError` when it is
 * not writable or locked by another process.
 */
export async function openDataDirectory(
  directory: string,
  { isWorker }: { readonly isWorker: boolean } = { isWorker: false },
): Promise<DataDirectory> {
  const path = await writable(directory)
  if (isWorker) return { path, release: () => Promise.resolve() }
  const lock = await takeLock(path)
  return { path, release: () => new Promise(done => void lock.close(() => done())) }
}

/** The same for one server. Throws `StartError` for a directory of `oriel start --shards`, too. */
export async function openServerDirectory(
  directory: string,
  role?: { readonly isWorker: boolean },
): Promise<DataDirectory> {
  const opened = await openDataDirectory(directory, role)
  if (!existsSync(join(opened.path, 'root', 'store'))) return opened
  throw new StartError(
    `${opened.path} has the objects of several shards: add --shards, or choose another --data-directory.`,
  )
}

async function writable(directory: string): Promise<string> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await access(directory, constants.R_OK | constants.W_OK | constants.X_OK)
    return await realpath(directory)
  } catch (error) {
    throw new StartError(
      `${directory} ${explanation(codeOf(error))}: choose another one with --data-directory.`,
    )
  }
}

const explanation = (code: string): string =>
  code === 'EEXIST' || code === 'ENOTDIR' ? 'is not a directory' : `cannot be written (${code})`

/** The lock is a listening socket, which the operating system closes even after a crash. */
async function takeLock(path: string): Promise<Server> {
  const address = lockAddress(path)
  const lock = await listen(address)
  if (lock !== undefined) return lock
  if (isFile && !(await answers(address))) {
    await rm(address, { force: true })
    const second = await listen(address)
    if (second !== undefined) return second
  }
  throw new StartError(
    `Another oriel runs on ${path}: stop it, or choose another directory with --data-directory.`,
  )
}

const isFile = process.platform !== 'linux' && process.platform !== 'win32'

function lockAddress(path: string): string {
  const name = `oriel-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
  if (process.platform === 'linux') return `\0${name}`
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), name)
}

const listen = (address: string): Promise<Server | undefined> =>
  new Promise((resolve, reject) => {
    const server = createServer(socket => socket.destroy())
    server.once('error', error => (codeOf(error) === 'EADDRINUSE' ? resolve(undefined) : reject(error)))
    server.listen(address, () => resolve(server.unref()))
  })

const answers = (address: string): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(address, () => resolve(true)).on('error', () => resolve(false))
    socket.unref()
  })
