import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { issueAuthority, issueServing, type KeyPair } from '../../../cmd/certificates/certificates.ts'
import { issueClient } from '../clientcertificates.ts'
import { temporaryDirectory } from '../temporary.ts'

/** A request, for which a defect can be returned. */
export interface Question {
  readonly path: string
  readonly method: string
  readonly headers: IncomingHttpHeaders
  /** Of the client certificate; undefined without a trusted one. */
  readonly commonName: string | undefined
}
export interface Reply {
  readonly status: number
  readonly body?: object | string
  readonly headers?: Readonly<Record<string, string>>
}

/** Responds like a healthy shard with its views, except where `sick` returns a response. */
export type Sick = (question: Question) => Reply | undefined

export interface SickServer {
  readonly url: string
  /** With the credentials of a privileged user. */
  readonly kubeconfig: string
  readonly directory: string
  close(): void
}

export interface SickOptions {
  readonly sick?: Sick
  /** Hours for which the client certificate is valid. */
  readonly hours?: number
  /** Hours until it is valid. */
  readonly from?: number
  /** Names in the serving certificate. */
  readonly names?: readonly string[]
  /** A wrong certificate authority for the kubeconfig. */
  readonly otherAuthority?: boolean
}

const user = { username: 'shard-admin', groups: ['system:masters'] }

function healthy(url: string, { path, method, headers, commonName }: Question): Reply {
  const vouched = commonName === 'front-proxy' ? headers['x-remote-user'] : undefined
  const isShard = commonName === 'shard-admin' && headers['impersonate-user'] === undefined
  const name = vouched ?? headers['impersonate-user'] ?? commonName ?? 'system:anonymous'
  const inside = path.replace(/^\/services\/.*\/clusters\/[^/]+/, '')
  const message = `forbidden: User "${String(name)}" cannot ${method.toLowerCase()} path "${inside}": access denied`
  const forbidden = { status: 403, body: { message } }
  if (path === '/version') return { status: 200, body: { gitVersion: 'v1.36.0' } }
  if (path === '/metrics')
    return { status: 200, body: 'workqueue_depth{name="kcp-cluster-cached-resources-controller"} 0\n' }
  if (path.startsWith('/readyz')) return { status: 200, body: 'ok' }
  if (!isShard) return forbidden
  if (path.endsWith('/selfsubjectreviews')) return { status: 201, body: { status: { userInfo: user } } }
  if (path.endsWith('/subjectaccessreviews')) return { status: 201, body: { status: {} } }
  if (path.endsWith('/shards'))
    return {
      status: 200,
      body: { items: [{ metadata: { name: 'root' }, spec: { virtualWorkspaceURL: url } }] },
    }
  if (path.endsWith('/apiexportendpointslices')) {
    const endpoints = [{ url: `${url}/services/apiexport/abc/widgets` }]
    return { status: 200, body: { items: [{ metadata: { name: 'widgets' }, status: { endpoints } }] } }
  }
  if (path.includes('/doctor:doctor/'))
    return {
      status: 200,
      body: { groupVersion: 'core.kcp.io/v1alpha1', resources: [{ name: 'logicalclusters' }] },
    }
  return { status: 200, body: { items: [] } }
}

export async function startSickServer(options: SickOptions = {}): Promise<SickServer> {
  const { sick = () => undefined, hours, from, names = ['127.0.0.1'], otherAuthority = false } = options
  const authority = issueAuthority()
  const serving = issueServing(authority, names)
  const tls = { cert: serving.certificate, key: serving.key, ca: authority.certificate }
  const server = createServer(
    { ...tls, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const socket = request.socket as TLSSocket
      const commonName = socket.authorized ? String(socket.getPeerCertificate().subject.CN) : undefined
      const question = {
        path: (request.url ?? '').split('?')[0] ?? '',
        method: request.method ?? '',
        headers: request.headers,
        commonName,
      }
      const { status, body = '', headers = {} } = sick(question) ?? healthy(url, question)
      response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
    },
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const directory = await temporaryDirectory('doctor')
  const admin = await issueClient(authority, {
    subject: 'CN=shard-admin, O=system:masters',
    ...(hours && { hours }),
    ...(from && { from }),
  })
  const proxy = await issueClient(authority, { subject: 'CN=front-proxy' })
  const kubeconfig = join(directory, 'kubeconfig')
  const ca = otherAuthority ? issueAuthority().certificate : authority.certificate
  await writeFile(kubeconfig, kubeconfigOf(url, ca, admin))
  await writeFile(join(directory, 'proxy.crt'), proxy.certificate)
  await writeFile(join(directory, 'proxy.key'), proxy.key)
  return { url, kubeconfig, directory, close: () => void server.close() }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

const kubeconfigOf = (server: string, ca: string, { certificate, key }: KeyPair): string =>
  JSON.stringify({
    'current-context': 'shard',
    contexts: [{ name: 'shard', context: { cluster: 'shard', user: 'admin' } }],
    clusters: [{ name: 'shard', cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [
      {
        name: 'admin',
        user: { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) },
      },
    ],
  })
