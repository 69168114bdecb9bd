import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { createClient } from '../../framework/net/client.ts'
import { testContext } from '../../test/support/context.ts'
import { temporaryDirectory } from '../../test/support/temporary.ts'
import { askDecision } from './decision.ts'
import type { ViewProcess } from './viewprocess.ts'

describe('the decision of the process of a view', () => {
  let server: Server
  let answer: string
  let view: ViewProcess

  before(async () => {
    const socketPath = join(await temporaryDirectory('decision'), 'socket')
    server = createServer((_, response) => void response.end(answer))
    await new Promise<void>(resolve => server.listen(socketPath, resolve))
    const client = createClient({ socketPath })
    view = { client, headersOf: () => ({}) } satisfies Partial<ViewProcess> as unknown as ViewProcess
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })

  it('is what the process answers', async () => {
    const decision = { effect: 'deny', reason: 'no member' }
    answer = JSON.stringify(decision)
    assert.deepEqual(await askDecision(view, testContext()), decision)
  })

  for (const wrong of ['', 'null', '{}', '[[', '{"effect":"maybe","reason":""}', '{"effect":"allow"}'])
    it(`is an error that names the view, for ${JSON.stringify(wrong)}`, async () => {
      answer = wrong
      await assert.rejects(askDecision(view, testContext()), {
        code: 500,
        message: /the view ".*" did not decide/,
      })
    })
})
