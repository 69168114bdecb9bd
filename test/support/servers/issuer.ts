import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { issueAuthority, issueServing } from '../../../cmd/certificates/certificates.ts'

type Keys = Awaited<ReturnType<typeof generateKeyPair>>

/** An OpenID issuer of tokens over HTTPS, with defects on demand. */
export interface Issuer {
  readonly url: string
  /** PEM: the certificate authority of its certificate. */
  readonly ca: string
  /** A token that is valid for an hour, for the audience `oriel` by default. */
  token(
    claims: Readonly<Record<string, unknown>>,
    header?: Readonly<Record<string, unknown>>,
  ): Promise<string>
  /** Signs with a new key from now on; the old one stays published, or is withdrawn. */
  rotate(old: 'published' | 'withdrawn'): Promise<void>
  /** The current public key, as JWK. */
  publicKey(): Promise<JWK>
  /** The number of requests by path. */
  readonly asked: ReadonlyMap<string, number>
  /** Overrides the next responses: a status, another document, or no response. */
  answer(instead: number | object | 'silence' | undefined): void
  stop(): Promise<void>
}

export interface IssuerOptions {
  readonly algorithm?: string
  /** Omits the key ID in tokens and keys. */
  readonly anonymousKeys?: boolean
  /** The ID of all keys; default: each has its own. */
  readonly keyId?: string
}

const documentsOf = (url: string, keys: readonly JWK[]): Readonly<Record<string, object>> => ({
  '/.well-known/openid-configuration': { issuer: url, jwks_uri: `${url}/jwks` },
  '/jwks': { keys },
})

export async function startIssuer({
  algorithm = 'RS256',
  anonymousKeys = false,
  keyId,
}: IssuerOptions = {}): Promise<Issuer> {
  const authority = issueAuthority()
  const { certificate, key } = issueServing(authority, ['localhost', '127.0.0.1'])
  const asked = new Map<string, number>()
  const published: JWK[] = []
  let current: { readonly id: string; readonly keys: Keys } | undefined
  let count = 0
  let instead: number | object | 'silence' | undefined
  const server = createServer({ cert: certificate, key }, (request, response) => {
    const path = request.url ?? ''
    asked.set(path, (asked.get(path) ?? 0) + 1)
    if (instead === 'silence') return
    if (typeof instead === 'number')
      return void response.writeHead(instead, { location: `${url}/jwks` }).end()
    response.end(JSON.stringify(instead ?? documentsOf(url, published)[path] ?? {}))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `https://localhost:${(server.address() as AddressInfo).port}`
  const publicKey = async (): Promise<JWK> => {
    if (current === undefined) throw new Error('no key yet')
    const { kid: _, ...jwk } = { ...(await exportJWK(current.keys.publicKey)), kid: current.id }
    return { ...jwk, alg: algorithm, use: 'sig', ...(anonymousKeys ? {} : { kid: current.id }) }
  }
  const rotate = async (old: 'published' | 'withdrawn'): Promise<void> => {
    current = { id: keyId ?? `key-${count++}`, keys: await generateKeyPair(algorithm, { extractable: true }) }
    if (old === 'withdrawn') published.length = 0
    published.push(await publicKey())
  }
  await rotate('withdrawn')
  return {
    url,
    ca: authority.certificate,
    asked,
    rotate,
    publicKey,
    answer: wanted => {
      instead = wanted
    },
    async token(claims, header = {}) {
      if (current === undefined) throw new Error('no key yet')
      const now = Math.floor(Date.now() / 1000)
      const id = anonymousKeys ? {} : { kid: current.id }
      return new SignJWT({ iss: url, aud: 'oriel', iat: now, exp: now + 3600, ...claims })
        .setProtectedHeader({ alg: algorithm, ...id, ...header })
        .sign(current.keys.privateKey)
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
