import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { createLifetime } from '../async/lifetime.ts'
import { createSlices, respond } from './respond.ts'

const kibibyte = 1024
const chunk = Buffer.alloc(128 * kibibyte)

/** A connection that counts what it is given. */
class Counting extends Socket {
  taken = 0
  head = ''
  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.head ||= bytes.toString('latin1', 0, kibibyte)
    this.taken += bytes.length
    this.accepted(done)
  }
  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this._write(Buffer.concat(chunks.map(each => Buffer.from(each.chunk))), '', done)
  }
  /** Calls `done` when the client has read what was given: here never. */
  accepted(_done: () => void): void {}
}

/** A connection that accepts all data at once. */
class Bottomless extends Counting {
  override accepted(done: () => void): void {
    done()
  }
}

/** A connection of a client that reads when it is asked to. */
class Waiting extends Counting {
  #done: (() => void) | undefined
  #reads = false
  override accepted(done: () => void): void {
    if (this.#reads) done()
    else this.#done = done
  }
  readAll(): void {
    this.#reads = true
    this.#done?.()
  }
}

async function* chunks(count: number): AsyncGenerator<Buffer, void> {
  for (let i = 0; i < count; i++) yield chunk
}

async function* largeChunks(count: number): AsyncGenerator<Buffer, void> {
  for (let i = 0; i < count; i++) yield Buffer.alloc(16 * chunk.length)
}

describe('respond', () => {
  it('yields to other requests while a fast client reads a long list', async () => {
    const socket = new Bottomless()
    const response = new ServerResponse(new IncomingMessage(socket))
    response.assignSocket(socket)
    socket.on('drain', () => response.emit('drain'))
    const takenAtTurns: number[] = []
    const look = (): void => {
      takenAtTurns.push(socket.taken)
      looking = setImmediate(look)
    }
    let looking = setImmediate(look)
    const answer = { status: 200, contentType: 'application/json', body: chunks(64) }
    await respond(response, { answer, headers: {}, isHead: false }, createLifetime(60_000))
    clearImmediate(looking)
    takenAtTurns.push(socket.taken)
    assert.ok(socket.taken >= 64 * chunk.length, 'all of it was sent')
    const most = Math.max(...takenAtTurns.map((taken, i) => taken - (takenAtTurns[i - 1] ?? 0)))
    assert.ok(most < 512 * kibibyte, `${most} bytes were sent in one turn`)
  })

  it('yields to other requests while many fast clients read long lists', async () => {
    const slices = createSlices()
    const sockets = Array.from({ length: 20 }, () => new Bottomless())
    const taken = (): number => sockets.reduce((sum, socket) => sum + socket.taken, 0)
    const takenAtTurns: number[] = []
    const look = (): void => {
      takenAtTurns.push(taken())
      looking = setImmediate(look)
    }
    let looking = setImmediate(look)
    const respondTo = (socket: Bottomless): void | Promise<void> => {
      const response = new ServerResponse(new IncomingMessage(socket))
      response.assignSocket(socket)
      socket.on('drain', () => response.emit('drain'))
      const answer = { status: 200, contentType: 'application/json', body: chunks(16) }
      return respond(response, { answer, headers: {}, isHead: false, slices }, createLifetime(60_000))
    }
    await Promise.all(sockets.map(respondTo))
    clearImmediate(looking)
    assert.ok(taken() >= 20 * 16 * chunk.length, 'all of it was sent')
    const most = Math.max(...takenAtTurns.map((at, i) => at - (takenAtTurns[i - 1] ?? 0)))
    assert.ok(most < 512 * kibibyte, `${most} bytes were sent in one turn`)
  })

  for (const [what, body] of [
    ['list', () => chunks(64)],
    ['list of large objects', () => largeChunks(4)],
    ['document', () => Buffer.alloc(64 * chunk.length)],
  ] as const)
    it(`keeps little of a ${what} that its client does not read, and cuts it off`, async () => {
      const socket = new Counting()
      const response = new ServerResponse(new IncomingMessage(socket))
      response.assignSocket(socket)
      const answer = { status: 200, contentType: 'application/json', body: body() }
      const lifetime = createLifetime(60_000)
      const done = respond(response, { answer, headers: {}, isHead: false, readTimeout: 1 }, lifetime)
      await new Promise(setImmediate)
      const kept = socket.taken + response.writableLength
      assert.ok(kept < 1024 * kibibyte, `${kept} bytes were given to the connection`)
      await done
      assert.equal(lifetime.ended, 'client stalled')
      assert.ok(response.destroyed)
    })

  it('sends a large document as a whole, with its length', async () => {
    const socket = new Bottomless()
    const response = new ServerResponse(new IncomingMessage(socket))
    response.assignSocket(socket)
    socket.on('drain', () => response.emit('drain'))
    const body = Buffer.alloc(5 * chunk.length + 7)
    const answer = { status: 200, contentType: 'application/json', body }
    await respond(response, { answer, headers: {}, isHead: false }, createLifetime(60_000))
    assert.match(socket.head, new RegExp(`^content-length: ${body.length}\r$`, 'm'))
    assert.ok(socket.taken > body.length && socket.taken < body.length + kibibyte, String(socket.taken))
    assert.ok(response.writableEnded)
  })

  for (const [what, flush, isWhole] of [
    ['sends the event of a watch to its end', true, true],
    ['cuts off a list', false, false],
  ] as const)
    it(`${what} when the server stops`, async () => {
      const socket = new Waiting()
      const response = new ServerResponse(new IncomingMessage(socket))
      response.assignSocket(socket)
      socket.on('drain', () => response.emit('drain'))
      const answer = { status: 200, contentType: 'application/json', body: largeChunks(1), flush }
      const lifetime = createLifetime(60_000)
      const done = respond(response, { answer, headers: {}, isHead: false }, lifetime)
      await new Promise(setImmediate)
      assert.ok(socket.taken > 0)
      lifetime.end('shutdown')
      socket.readAll()
      await done
      assert.equal(response.writableEnded, isWhole)
      assert.equal(socket.taken >= 16 * chunk.length, isWhole)
    })
})
