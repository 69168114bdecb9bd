import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy to a port that can interrupt connections. */
export interface Gate {
  readonly port: number
  /** The number of open connections. */
  readonly open: number
  /** Cuts all connections; new ones are accepted. */
  cut(): void
  /** Cuts every connection after this many bytes of responses; undefined: none. */
  cutAfter(bytes: number | undefined): void
  /** Holds back responses until released. */
  hold(): void
  release(): void
  close(): Promise<void>
}

export async function openGate(to: number): Promise<Gate> {
  const sockets = new Set<Socket>()
  let most: number | undefined
  let isHeld = false
  const server = createServer(client => {
    const inside = connect(to, '127.0.0.1')
    let passed = 0
    sockets.add(client)
    client.on('data', chunk => inside.write(chunk))
    inside.on('data', chunk => {
      passed += chunk.length
      if (most !== undefined && passed > most) client.destroy()
      else client.write(chunk)
    })
    if (isHeld) inside.pause()
    for (const [one, other] of [
      [client, inside],
      [inside, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(client)
        other.destroy()
      })
    }
    client.on('resume-inside', () => inside.resume())
    client.on('pause-inside', () => inside.pause())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const tell = (what: string): void => {
    for (const socket of sockets) socket.emit(what)
  }
  return {
    port: (server.address() as AddressInfo).port,
    get open() {
      return sockets.size
    },
    cut: () => {
      for (const socket of sockets) socket.destroy()
    },
    cutAfter: bytes => {
      most = bytes
    },
    hold: () => {
      isHeld = true
      tell('pause-inside')
    },
    release: () => {
      isHeld = false
      tell('resume-inside')
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
