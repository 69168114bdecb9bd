import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import { widget } from '../../test/support/tinyshard.ts'
import { testCertificates } from '../../test/support/wire.ts'
import type { AdmissionPlugin } from '../contract/admission.ts'
import { plain, serving, start, widgets } from '../testing/serving.ts'
import { Turns } from './awaitable.ts'

/** Counts the turns of the event loop. */
function countTurns(): { readonly count: () => number; readonly stop: () => void } {
  let count = 0
  let isStopped = false
  const next = (): void => {
    count++
    if (!isStopped) setImmediate(next)
  }
  setImmediate(next)
  return {
    count: () => count,
    stop: () => {
      isStopped = true
    },
  }
}

/** Sends a large object, all but its last byte. */
async function beginWrite(port: number, index: number): Promise<TLSSocket> {
  const ca = testCertificates().tls.clientCA
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca })
  await once(socket, 'secureConnect')
  const body = JSON.stringify(widget('default', `w${index}`, { annotations: { large: 'x'.repeat(150_000) } }))
  const head = [
    `POST /clusters/root${widgets} HTTP/1.1`,
    'Host: localhost',
    'Authorization: Bearer admin',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  const sent = `${head.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`
  await new Promise(resolve => socket.write(sent, resolve))
  return socket
}

describe('turns', () => {
  it('delay large bodies, one after the other, and not small ones', async () => {
    const turns = new Turns()
    const loop = countTurns()
    const at: number[] = []
    const waiting = [2 ** 20, 2 ** 20, 10, 2 ** 20].map(async size => {
      const body = await turns.of(Buffer.alloc(size))
      assert.equal(body.length, size)
      if (size === 10) assert.equal(loop.count(), 0)
      else at.push(loop.count())
    })
    await Promise.all(waiting)
    loop.stop()
    assert.equal(new Set(at).size, 3)
  })

  describe('at a server', () => {
    const scene = serving()

    it('separate large writes that come together', async () => {
      const at: number[] = []
      const loop = countTurns()
      const counting: AdmissionPlugin = {
        async mutate(_, { object }) {
          at.push(loop.count())
          return object
        },
      }
      await start(scene, [{ ...plain(scene), admission: [counting] }])
      const clients = await Promise.all(Array.from({ length: 8 }, (_, i) => beginWrite(scene.server.port, i)))
      // All bodies are there at once.
      const answers = clients.map(socket => once(socket, 'data'))
      for (const socket of clients) socket.write('}')
      for (const [answer] of await Promise.all(answers)) assert.match(String(answer), /^HTTP\/1.1 201/)
      loop.stop()
      for (const socket of clients) socket.destroy()
      // A write that takes long waits again between its steps, and may then share the turn of another one.
      assert.ok(new Set(at).size > clients.length / 2, `${at}`)
    })
  })
})
