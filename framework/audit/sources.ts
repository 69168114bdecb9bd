import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'

/**
 * Where a request came from: first what proxies say, which anybody may write, at last the address of the connection,
 * which nobody can.
 */
export function sourcesOf(headers: IncomingHttpHeaders, remoteAddress: string): readonly string[] {
  const said = [headers['x-forwarded-for'], headers['x-real-ip']].flatMap(value =>
    String(value ?? '').split(','),
  )
  const known = [...said.map(text => text.trim()), remoteAddress.replace(/^::ffff:/, '')]
  return [...new Set(known.filter(address => isIP(address) > 0))]
}
