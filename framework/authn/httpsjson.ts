import { inTurns, Pace } from '../async/awaitable.ts'
import { parseJsonSteps } from '../json/jsonsteps.ts'
import type { AddressPolicy } from '../net/addresspolicy.ts'
import { fetchOnce } from '../net/fetch.ts'

/** How a document of an issuer is fetched. */
export interface FetchOptions {
  /** PEM; the certificate authorities of the operating system if absent. */
  readonly ca?: string
  /** The address policy, for URLs that tenants choose. Without it every server may be requested. */
  readonly addresses?: AddressPolicy
}

const limits = { timeout: 10_000, bytes: 1024 * 1024 }
/** Of a document: a hundred keys have a thousand, and certificates which nobody reads. */
const mostValues = 20_000

/**
 * Fetches a JSON document over HTTPS, of at most 1 MiB and 20,000 values within ten seconds. Redirects are errors. Each request has its own
 * connection: a reused one could outlive the check of its address.
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
  return inTurns(parseJsonSteps(text, { values: mostValues }), new Pace())
}
