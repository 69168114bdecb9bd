import type { IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import type { Targets } from '../net/targets.ts'

/** How a document of somebody else is fetched. */
export interface FetchOptions {
  /** PEM; the authorities of the system when absent. */
  readonly ca?: string
  /** For URLs that tenants choose: without it every server may be asked. */
  readonly targets?: Targets
}

const longest = 10_000
const largest = 1024 * 1024

/**
 * Fetches a JSON document over HTTPS, in ten seconds and a megabyte at most, and follows no redirect. Rejects with an
 * `Error` of a few words.
 */
export async function fetchJson(url: string, { ca, targets }: FetchOptions): Promise<unknown> {
  const { protocol } = new URL(url)
  const problem = protocol === 'https:' ? targets?.problemOf(url) : 'its scheme is not https'
  if (problem !== undefined) throw new Error(`${url} cannot be asked: ${problem}`)
  return JSON.parse(
    await get(url, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(longest),
      // A connection that is kept might outlive what was checked of its address.
      agent: false,
      ...(ca === undefined ? {} : { ca }),
      ...(targets === undefined ? {} : { lookup: targets.lookup }),
    }),
  )
}

function get(url: string, options: RequestOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, options, response => {
      read(response).then(resolve, error => {
        sent.destroy()
        reject(error)
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}

async function read(response: IncomingMessage): Promise<string> {
  if (response.statusCode !== 200) throw new Error(`the answer is ${response.statusCode}`)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    size += (chunk as Buffer).length
    if (size > largest) throw new Error('the answer is too large')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString()
}
