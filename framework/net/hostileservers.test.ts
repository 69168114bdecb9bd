import { breaksOneResponseAtMost } from '../../test/contract/hostileanswers.suite.ts'
import { serve } from '../server/serve.ts'
import { hostile } from './testing/hostile.ts'
import { outbound, service } from './testing/service.ts'

describe('a server behind a mount that sends', () => {
  breaksOneResponseAtMost(hostile, url => (request, response) => {
    const endpoint = { url }
    void serve(service, { request, response }, ({ incoming }) =>
      outbound.forwarding({ incoming, endpoint, path: incoming.path, seenAs: '/here' }),
    )
  })
})
