import type { IncomingHttpHeaders } from 'node:http'
import { KubeConfig } from '@kubernetes/client-node'
import { silent } from '../../../framework/contract/log.ts'
import type { UpstreamEndpoint } from '../../../framework/contract/upstream.ts'
import { createMetrics } from '../../../framework/metrics/metrics.ts'
import { createOutbound } from '../../../framework/net/outbound.ts'
import { listen } from '../../../framework/server/listener.ts'
import { serve } from '../../../framework/server/serve.ts'
import { discard, readText, startOriel } from '../oriel.ts'
import { testCertificates } from '../wire.ts'

/** A Kubernetes-style API server to mount: that of PEER_KUBECONFIG, or a second Oriel. */
export interface Peer {
  readonly endpoint: UpstreamEndpoint
  /** Self-contained: no files, no exec plugins. */
  readonly kubeconfig: string
  stop(): Promise<void>
}

export async function startPeer(): Promise<Peer> {
  const given = process.env.PEER_KUBECONFIG
  if (given) return { ...readPeer(await readText(given)), stop: async () => undefined }
  const oriel = await startOriel({ args: ['--store', 'memory:'] })
  return { ...readPeer(await readText(oriel.kubeconfig)), stop: () => discard(oriel) }
}

/** The server and credentials of a kubeconfig. */
export function readPeer(text: string): Omit<Peer, 'stop'> {
  const config = new KubeConfig()
  config.loadFromString(text)
  const cluster = config.getCurrentCluster()
  const user = config.getCurrentUser()
  if (cluster === null || user === null) throw new Error('the kubeconfig of the peer has no current context')
  const plain = (base64: string | undefined) => base64 && Buffer.from(base64, 'base64').toString()
  const [ca, cert, key] = [cluster.caData, user.certData, user.keyData].map(plain)
  const server = cluster.server.replace('https://localhost', 'https://127.0.0.1')
  return {
    endpoint: {
      url: server,
      tls: { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) },
      headers: user.token ? { authorization: `Bearer ${user.token}` } : {},
    },
    kubeconfig: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'peer',
      clusters: [{ name: 'peer', cluster: { server, 'certificate-authority-data': cluster.caData } }],
      contexts: [{ name: 'peer', context: { cluster: 'peer', user: 'peer' } }],
      users: [
        {
          name: 'peer',
          user: {
            ...(user.token && { token: user.token }),
            ...(user.certData && { 'client-certificate-data': user.certData }),
            ...(user.keyData && { 'client-key-data': user.keyData }),
          },
        },
      ],
    }),
  }
}

/** A proxy service as authors of mounts need one: a server at `status.URL` with credentials for the remote cluster. */
export interface ProxyService {
  readonly url: string
  /** The headers of the last request. */
  seen(): IncomingHttpHeaders
  stop(): Promise<void>
}

export async function startProxyService(endpoint: UpstreamEndpoint): Promise<ProxyService> {
  const outbound = createOutbound({ allow: ['127.0.0.1'], allowHttp: true })
  const service = {
    log: silent,
    metrics: createMetrics(),
    requestTimeout: 60_000,
    stopping: new AbortController().signal,
  }
  let seen: IncomingHttpHeaders = {}
  const handler: Parameters<typeof serve>[2] = async ({ incoming, lifetime }) => {
    seen = incoming.credentials.headers
    lifetime.limit(undefined)
    return outbound.forwarding({ incoming, endpoint, path: incoming.path, seenAs: '' })
  }
  const { tls } = testCertificates()
  const listener = await listen(
    { host: '127.0.0.1', port: 0, tls: { cert: tls.cert, key: tls.key } },
    (request, response) => void serve(service, { request, response }, handler),
    (request, response, upgrade) => void serve(service, { request, response, upgrade }, handler),
  )
  return { url: `https://127.0.0.1:${listener.port}`, seen: () => seen, stop: () => listener.drain(0) }
}
