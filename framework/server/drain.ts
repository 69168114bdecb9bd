import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeServer, RunningRequests } from './connections.ts'

export interface Connections {
  readonly sockets: ReadonlySet<Socket>
  readonly sessions: ReadonlySet<ServerHttp2Session>
}

export function trackConnections(server: NodeServer): Connections {
  const sockets = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  server.on('connection', (socket: Socket) => track(sockets, socket))
  server.on('session', (session: ServerHttp2Session) => track(sessions, session))
  return { sockets, sessions }
}

function track<T extends Socket | ServerHttp2Session>(set: Set<T>, member: T): void {
  set.add(member)
  member.once('close', () => set.delete(member))
}

const lastFlush = 1000

export async function drain(
  server: NodeServer,
  { sockets, sessions }: Connections,
  running: RunningRequests,
  milliseconds: number,
): Promise<void> {
  const closed = new Promise(resolve => void server.close(resolve))
  for (const session of sessions) session.close()
  await within(milliseconds, running.none())
  // `end` sends what was written before it closes the connection.
  for (const socket of sockets) socket.end()
  await within(lastFlush, closed)
  for (const socket of sockets) socket.destroy()
  await closed
}

async function within(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  const timer = new AbortController()
  const late = sleep(milliseconds, undefined, { signal: timer.signal }).catch(() => undefined)
  await Promise.race([promise, late])
  timer.abort()
}
