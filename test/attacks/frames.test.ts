import { once } from 'node:events'
import type { TLSSocket } from 'node:tls'
import { eventually } from '../support/oriel.ts'
import {
  encodeFrame,
  encodeHeader,
  endHeaders,
  endStream,
  type Frame,
  frames,
  lastHeader,
  openRaw,
  requestHeaders,
} from './frames.ts'
import { answeredDuring, create, programs, type Resident, type Scene } from './programs.ts'

const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
const joined = (list: readonly Frame[]): Buffer => Buffer.concat(list.map(encodeFrame))

const get = (of: Resident, flags: number, stream = 1): Frame => {
  const payload = requestHeaders(of, 'GET', of.path)
  return { type: frames.headers, flags, stream, payload }
}
const post = (of: Resident): Frame => {
  const payload = requestHeaders(of, 'POST', of.creates)
  return { type: frames.headers, flags: endHeaders, stream: 1, payload }
}

interface Flood {
  readonly begin?: (of: Resident) => Frame
  readonly again: (of: Resident) => Frame
}

const padding = Buffer.concat(times(100, () => encodeHeader('x-a', 'y'.repeat(100))))

/** Frames that cost their sender nothing, without end. */
const floods: Readonly<Record<string, Flood>> = {
  'headers that do not end': {
    begin: of => get(of, 0),
    again: () => ({ type: frames.continuation, stream: 1, payload: padding }),
  },
  'headers that go on with nothing': {
    begin: of => get(of, 0),
    again: () => ({ type: frames.continuation, stream: 1 }),
  },
  'pings whose answers are not read': { again: () => ({ type: frames.ping, payload: Buffer.alloc(8) }) },
  'settings whose answers are not read': { again: () => ({ type: frames.settings }) },
  'data without bytes': { begin: post, again: () => ({ type: frames.data, stream: 1 }) },
}

/** Sends the bytes until the server has closed the connection. */
async function sendUntilClosed(socket: TLSSocket, bytes: Buffer): Promise<void> {
  const closed = once(socket, 'close')
  while (!socket.destroyed) {
    const written = new Promise<void>(resolve => socket.write(bytes, () => resolve()))
    await Promise.race([written, closed])
  }
}

/** The error of each stream that the server resets. */
function resetsOn(socket: TLSSocket): ReadonlyMap<number, number> {
  const codes = new Map<number, number>()
  let rest = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const end = rest.length < 9 ? Number.POSITIVE_INFINITY : 9 + rest.readUIntBE(0, 3)
      if (rest.length < end) return
      if (rest[3] === frames.reset) codes.set(rest.readUInt32BE(5), rest.readUInt32BE(9))
      rest = rest.subarray(end)
    }
  })
  return codes
}

for (const [program, start] of Object.entries(programs))
  describe(`${program}, attacked by frames of HTTP/2`, function () {
    this.timeout(120_000)
    let scene: Scene

    before(async () => {
      scene = await start()
      for (const one of [scene.attacker, scene.victim])
        await eventually(
          () => create(one, 'first', 1),
          status => status === 201,
        )
    })
    after(() => scene.stop())

    for (const [what, { begin, again }] of Object.entries(floods))
      it(`ends a connection with ${what}, and answers others`, async () => {
        const { attacker } = scene
        const bytes = joined(times(500, () => again(attacker)))
        await answeredDuring(
          scene,
          Promise.all(
            times(4, async () => {
              const socket = await openRaw(attacker)
              if (begin === undefined) socket.pause()
              else socket.resume().write(encodeFrame(begin(attacker)))
              await sendUntilClosed(socket, bytes)
            }),
          ),
        )
      })

    it('refuses requests that name a long header of the table thousands of times, and answers others', async () => {
      const { attacker } = scene
      const socket = await openRaw(attacker)
      const resets = resetsOn(socket)
      const head = requestHeaders(attacker, 'GET', attacker.path)
      const kept = Buffer.concat([head, encodeHeader('x-a', 'y'.repeat(3_900), true)])
      const flags = endHeaders | endStream
      socket.write(encodeFrame({ type: frames.headers, flags, stream: 1, payload: kept }))
      const payload = Buffer.concat([head, ...times(3_000, () => lastHeader)])
      // Each would be 12 MB of headers.
      const bombs = times(90, i => ({ type: frames.headers, flags, stream: 3 + 2 * i, payload }))
      socket.write(joined(bombs))
      await answeredDuring(
        scene,
        eventually(
          () => Promise.resolve(bombs.filter(({ stream }) => resets.has(stream)).length),
          count => count === bombs.length,
        ),
      )
      socket.destroy()
    })
  })
