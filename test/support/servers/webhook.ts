import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server that receives webhook requests, with responses of the test. */
export interface Webhook {
  /** The received bodies. */
  readonly got: readonly Record<string, unknown>[]
  /** The kubeconfig for it. */
  readonly kubeconfig: string
  close(): void
}

export async function startWebhook(
  answer: (body: Record<string, unknown>, authorization: string | undefined) => object,
): Promise<Webhook> {
  const got: Record<string, unknown>[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString())
    got.push(body)
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify(answer(body, request.headers.authorization)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  const kubeconfig = [
    'apiVersion: v1',
    'kind: Config',
    'current-context: hook',
    `clusters: [{name: hook, cluster: {server: "${url}"}}]`,
    'contexts: [{name: hook, context: {cluster: hook, user: hook}}]',
    'users: [{name: hook, user: {token: secret}}]',
  ].join('\n')
  return { got, kubeconfig, close: () => void server.close() }
}
