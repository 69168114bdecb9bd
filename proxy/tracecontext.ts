import type { Exchange } from '../framework/server/serve.ts'

/** The same request with the context of its trace; `headers`: absent where requests are not traced. */
export function withContext(
  headers: (() => Readonly<Record<string, string>>) | undefined,
  exchange: Exchange,
): Exchange {
  if (headers === undefined) return exchange
  const { incoming } = exchange
  const { credentials } = incoming
  const traced = { ...credentials, headers: { ...credentials.headers, ...headers() } }
  return { ...exchange, incoming: { ...incoming, credentials: traced } }
}
