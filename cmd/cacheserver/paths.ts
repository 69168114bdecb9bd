import type { Port } from '../../framework/server/listener.ts'

const service = '/services/cache'
/** The path of a health check below the service, one of its shards, or a logical cluster of the shard. */
const health =
  /^(?:\/shards\/(?:\*|[a-z0-9:-]{1,61})(?:\/clusters\/[^/?]+)?)?(\/(?:healthz|livez|readyz)(?:[/?].*)?)$/

/**
 * The path that a request asks for: for health checks without the service, the shard and the logical cluster, which the server
 * as a whole answers (kcp `pkg/cache/server/handler.go`, WithServiceScope and WithShardScope). Other paths are unchanged.
 */
export const askedPath = (url: string): string =>
  url.startsWith(service) ? (health.exec(url.slice(service.length))?.[1] ?? url) : url

/** The port, with health checks also at the URLs of shards. */
export const withHealthOfShards = (port: Port): Port => ({
  ...port,
  answer: ({ request, upgrade }) =>
    port.answer({
      upgrade,
      request: (incoming, response) => {
        incoming.url = askedPath(incoming.url ?? '/')
        request(incoming, response)
      },
    }),
})
