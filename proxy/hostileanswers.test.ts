import { hostile } from '../framework/net/testing/hostile.ts'
import { service } from '../framework/net/testing/service.ts'
import { serve } from '../framework/server/serve.ts'
import { breaksOneResponseAtMost } from '../test/contract/hostileanswers.suite.ts'
import type { Mapping, MappingTls } from './mapping.ts'
import { openRoutes } from './routes.ts'

const names = {
  user: 'X-Remote-User',
  uid: 'X-Remote-Uid',
  group: 'X-Remote-Group',
  extraPrefix: 'X-Remote-Extra-',
}
const answers = {
  ...hostile,
  'a head without end': `HTTP/1.1 200 OK\r\n${'X-A: '.padEnd(1000, 'x')}\r\n`.repeat(1_000),
}
const user = { name: 'ann', groups: [] }

describe('a shard behind a front proxy that sends', () => {
  breaksOneResponseAtMost(answers, url => {
    const mapping = { path: '/', backend: url, names } as Mapping
    const routes = openRoutes([{ mapping, tls: {} as MappingTls }], () => false)
    return (request, response) =>
      void serve(service, { request, response }, exchange =>
        routes.forwarding({ mapping, exchange, user, url, path: exchange.incoming.path }),
      )
  })
})
