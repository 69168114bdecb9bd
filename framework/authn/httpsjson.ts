import type { AddressPolicy } from '../net/addresspolicy.ts'
import { fetchOnce } from '../net/client.ts'

export interface FetchOptions {
  /** PEM. Without it the certificate authorities of the operating system are trusted. */
  readonly ca?: string
  /** The address policy, for URLs that tenants choose. Without it every server may be requested. */
  readonly addresses?: AddressPolicy
}

const limits = { timeout: 10_000, bytes: 1024 * 1024 }

/**
 * Fetches a JSON document over HTTPS, over a connection of its own: a kept one could outlive the check of its address.
 * Rejects with an `Error` of a few words.
 */
export async function fetchJson(url: string, { ca, addresses }: FetchOptions): Promise<unknown> {
  const { protocol } = new URL(url)
  const problem = protocol === 'https:' ? addresses?.problemOf(url) : 'its scheme is not https'
  if (problem !== undefined) throw new Error(`${url} is refused: ${problem}`)
  const { status, text } = await fetchOnce(
    url,
    { headers: { accept: 'application/json' } },
    { limits, ...(ca && { tls: { ca } }), ...(addresses && { lookup: addresses.lookup }) },
  )
  if (status !== 200) throw new Error(`the response has status ${status}`)
  return JSON.parse(text)
}
