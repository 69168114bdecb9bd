import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EtcdCall, EtcdConnection } from './connection.ts'

const patience = 300

/** A call whose second attempt begins when no time is left for it. */
const late: EtcdCall<Buffer> = {
  path: '/etcdserverpb.KV/Range',
  request: Buffer.alloc(0),
  decode: bytes => bytes,
  again: () => sleep(patience, Buffer.alloc(0)),
}

describe('a connection to etcd', () => {
  it('names why no connection was made, when the last attempt of a call had no time to find out', async () => {
    const connection = new EtcdConnection({ endpoints: ['127.0.0.1:1'], patience })
    await assert.rejects(connection.call(late), { name: 'Error', message: /ECONNREFUSED/ })
    connection.close()
  })
})
