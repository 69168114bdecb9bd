import type { Awaitable } from '../../async/awaitable.ts'
import type { Forwarding } from '../../contract/upstream.ts'
import { type Listener, listen } from '../../server/listener.ts'
import { type Exchange, serve } from '../../server/serve.ts'
import { service } from './service.ts'

/** A server that passes all requests and upgrades on, without a deadline. */
export function openFront(forwardingOf: (exchange: Exchange) => Awaitable<Forwarding>): Promise<Listener> {
  const handler = (exchange: Exchange): Awaitable<Forwarding> => {
    exchange.lifetime.limit(undefined)
    return forwardingOf(exchange)
  }
  return listen(
    { host: '127.0.0.1', port: 0 },
    (request, response) => void serve(service, { request, response }, handler),
    (request, response, upgrade) => void serve(service, { request, response, upgrade }, handler),
  )
}
