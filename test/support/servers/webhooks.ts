import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { issueAuthority, issueServing } from '../../../cmd/certificates/certificates.ts'

/** The reply of a webhook: the response of a review, a status code, or no response. */
export type Said = object | number | 'silence'

/** The responses to reviews, by path. */
export type Answers<R> = Readonly<Record<string, (review: R) => Said | Promise<Said>>>

export interface Webhooks {
  readonly url: string
  /** PEM, base64. */
  readonly caBundle: string
  close(): void
}

export interface AnyReview {
  readonly kind: string
  readonly apiVersion: string
  readonly request: { readonly uid: string }
}

/** Serves webhooks on this machine over TLS, with a new certificate authority. */
export async function serveWebhooks<R extends AnyReview>(answers: Answers<R>): Promise<Webhooks> {
  const authority = issueAuthority()
  const pair = issueServing(authority, ['127.0.0.1'])
  const server = createServer({ key: pair.key, cert: pair.certificate }, async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const review = JSON.parse(Buffer.concat(chunks).toString()) as R
    const answer = answers[new URL(incoming.url ?? '', 'https://x').pathname]
    const said = (await answer?.(review)) ?? 404
    if (said === 'silence') return
    outgoing.statusCode = typeof said === 'number' ? said : 200
    const response = typeof said === 'number' ? undefined : { uid: review.request.uid, ...said }
    outgoing.setHeader('content-type', 'application/json')
    outgoing.end(JSON.stringify({ kind: review.kind, apiVersion: review.apiVersion, response }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caBundle: Buffer.from(authority.certificate).toString('base64'),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Allows calls to webhooks on this machine; kcp needs no flag. */
export const webhookFlags: readonly string[] = process.env.KCP_BIN ? [] : ['--webhook-allow', '127.0.0.1']
