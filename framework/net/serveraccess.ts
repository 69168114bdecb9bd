import { type ClientTls, createClient, type HttpClient, type HttpClientOptions } from './client.ts'

/** A server and the credentials for it. */
export interface ServerAccess {
  /** `https://host:port/clusters/root`, without a trailing slash. */
  readonly server: string
  /** The Unix socket of the server, instead of the host and port of its URL. */
  readonly socketPath?: string
  /** PEM. Without `ca` the certificate authorities of the operating system are trusted. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly token?: string
  /** Basic authentication; absent where there is a token. */
  readonly basic?: { readonly username: string; readonly password: string }
  /** The certificate of the server is not verified. */
  readonly insecure?: true
}

/** The credentials for a server, and the authorities that have issued its certificate. */
export type ServerCredentials = Omit<ServerAccess, 'server'>

export const tlsOf = ({ ca, cert, key, insecure }: ServerCredentials): ClientTls => ({
  // As in Go: kubeconfigs also name the certificate of the server itself as the authority.
  ...(ca !== undefined && { ca, allowPartialTrustChain: true }),
  ...(cert !== undefined && { cert }),
  ...(key !== undefined && { key }),
  ...(insecure && { rejectUnauthorized: false }),
})

/** The `authorization` header, or no header. */
export function authorizationOf({ token, basic }: ServerCredentials): {
  readonly authorization?: string
} {
  if (token !== undefined) return { authorization: `Bearer ${token}` }
  if (basic === undefined) return {}
  const { username, password } = basic
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}

/** A client with the present credentials each time; requests with former ones complete. */
export function clientWith(
  credentials: () => ServerCredentials,
  options: Omit<HttpClientOptions, 'tls' | 'headers'>,
): () => HttpClient {
  const opened = (access: ServerCredentials): HttpClient =>
    createClient({ tls: tlsOf(access), headers: { ...authorizationOf(access) }, ...options })
  let used = credentials()
  let client = opened(used)
  return () => {
    const present = credentials()
    if (present !== used) {
      // Rejects when the client was destroyed: requests that come later fail by themselves.
      client.close().catch(() => undefined)
      client = opened(present)
      used = present
    }
    return client
  }
}
