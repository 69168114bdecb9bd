import { setTimeout as sleep } from 'node:timers/promises'
import { type Address, Connection } from './connection.ts'
import { percentile } from './statistics.ts'

/** The result of a load. */
export interface Load {
  readonly perSecond: number
  readonly bytesPerSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}

export interface LoadOptions {
  readonly connections: number
  readonly milliseconds: number
  /** The next request to send. */
  readonly request: () => Buffer
  readonly status?: number
  /** Milliseconds that a connection waits after each response; default 0. */
  readonly rest?: number
}

/** Keeps connections busy for a time. Throws when a response has another status than expected. */
export async function load(address: Address, options: LoadOptions): Promise<Load> {
  const { connections, milliseconds, status = 200 } = options
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(address)))
  const times: number[] = []
  let bytes = 0
  let wrong: number | undefined
  const begin = performance.now()
  const end = begin + milliseconds
  const answered = (code: number, length: number): void => {
    if (code !== status) wrong = code
    bytes += length
  }
  await Promise.all(open.map(connection => keepAsking(connection, options, { end, times, answered })))
  const seconds = (performance.now() - begin) / 1000
  for (const connection of open) connection.close()
  if (wrong !== undefined) throw new Error(`an answer was ${wrong} instead of ${status}`)
  return {
    perSecond: times.length / seconds,
    bytesPerSecond: bytes / seconds,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
  }
}

interface Asking {
  readonly end: number
  readonly times: number[]
  readonly answered: (status: number, bytes: number) => void
}

function keepAsking(
  connection: Connection,
  { request, rest = 0 }: LoadOptions,
  { end, times, answered }: Asking,
): Promise<void> {
  return new Promise(resolve => {
    let begun = 0
    const ask = (): void => {
      begun = performance.now()
      connection.ask(request(), done)
    }
    const done = (status: number, bytes: number): void => {
      const now = performance.now()
      times.push(now - begun)
      answered(status, bytes)
      if (now >= end || status === 0) resolve()
      else if (rest > 0) void sleep(rest).then(ask)
      else ask()
    }
    ask()
  })
}
