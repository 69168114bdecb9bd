import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { slice, turn } from '../async/turn.ts'
import { arriving } from './connections.ts'

describe('requests of one connection that arrive together', () => {
  const begun: string[] = []
  const listener = arriving(({ url = '' }) => {
    begun.push(url)
    for (const end = performance.now() + slice + 1; performance.now() < end; );
  })
  const [one, other] = [{}, {}]
  const send = (socket: object, url: string): { destroyed: boolean } => {
    const response = { destroyed: false }
    listener({ socket, url } as IncomingMessage, response as ServerResponse)
    return response
  }

  it('wait for a turn when the slice of this one is used up, and not for those of others', async () => {
    send(one, '/a')
    send(one, '/b')
    send(one, '/canceled').destroyed = true
    send(other, '/c')
    assert.deepEqual(begun, ['/a', '/c'])
    await turn()
    assert.deepEqual(begun, ['/a', '/c', '/b'])
  })
})
