import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { JSONWebKeySet, JWTPayload } from 'jose'
import type { Claims } from './jwt.ts'
import { sha256, TokenError } from './token.ts'

/** Keys that sign and verify tokens of service accounts. */
export interface SigningKeys {
  /** A token with these claims, signed by the first private key. Throws if there is none. */
  sign(claims: Claims): Promise<string>
  /** The claims of a valid token that one of the keys has signed. Throws `TokenError`. */
  verify(token: string): Promise<Claims>
  /** The public keys as a JWKS. */
  published(): Promise<JSONWebKeySet>
  /** Bytes that servers with the same private key share, to derive secrets from; undefined without a private key. */
  secret(): Buffer | undefined
  /** The algorithms of the keys, sorted: `ES256`, `RS256`. */
  readonly algorithms: readonly string[]
}

interface Key {
  readonly id: string
  readonly algorithm: string
  readonly publicKey: KeyObject
  readonly privateKey?: KeyObject
}

/** Accepted clock difference in seconds. */
const leeway = 60

/**
 * The keys of a PEM file: RSA, or EC on P-256, P-384 or P-521, private or public, or certificates. The first private key signs; all
 * keys verify, so that keys can be rotated. Throws an `Error` if the file has no supported key.
 */
export function signingKeys(pem: string): SigningKeys {
  const keys = keysIn(pem)
  const algorithms = [...new Set(keys.map(key => key.algorithm))].toSorted()
  return {
    sign: claims => sign(keys, claims),
    verify: token => verify(keys, token),
    published: () => published(keys),
    secret: () => secretOf(keys),
    algorithms,
  }
}

/** The private key that signs: servers with the same file derive the same secrets from it. */
function secretOf(keys: readonly Key[]): Buffer | undefined {
  const signing = keys.find(({ privateKey }) => privateKey !== undefined)
  return signing?.privateKey?.export({ type: 'pkcs8', format: 'der' })
}

function keysIn(pem: string): readonly Key[] {
  const blocks = pem.match(/-----BEGIN [A-Z ]+-----[^-]+-----END [A-Z ]+-----/g) ?? []
  const keys = blocks.filter(block => !block.includes('PARAMETERS-')).map(keyIn)
  if (keys.length === 0) throw new Error('no key in PEM format')
  return withoutRepeated(keys)
}

/** A file may have a private key, and another one the certificate of the same key. */
function withoutRepeated(keys: readonly Key[]): readonly Key[] {
  const byId = new Map<string, Key>()
  for (const key of keys) {
    const known = byId.get(key.id)
    if (known?.privateKey === undefined) byId.set(key.id, key)
  }
  return [...byId.values()]
}

function keyIn(block: string): Key {
  const isPrivate = block.includes('PRIVATE KEY')
  const privateKey = isPrivate ? { privateKey: createPrivateKey(block) } : {}
  const publicKey = createPublicKey(block)
  // The key ID of Kubernetes (`keyIDFromPublicKey`).
  const id = sha256(publicKey.export({ type: 'spki', format: 'der' })).toString('base64url')
  return { id, algorithm: algorithmOf(publicKey), publicKey, ...privateKey }
}

const curves: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string {
  if (asymmetricKeyType === 'rsa') return 'RS256'
  const algorithm = curves[asymmetricKeyDetails?.namedCurve ?? '']
  if (algorithm === undefined) throw new Error(`unsupported key type ${asymmetricKeyType}`)
  return algorithm
}

// Loaded when the first token is signed or verified.
const loadJose = () => import('jose')

async function sign(keys: readonly Key[], claims: Claims): Promise<string> {
  const { SignJWT } = await loadJose()
  const key = keys.find(({ privateKey }) => privateKey !== undefined)
  if (key?.privateKey === undefined) throw new Error('no private key for signing')
  return new SignJWT(claims as JWTPayload)
    .setProtectedHeader({ alg: key.algorithm, kid: key.id })
    .sign(key.privateKey)
}

async function verify(keys: readonly Key[], token: string): Promise<Claims> {
  const { decodeProtectedHeader } = await loadJose()
  const candidates = keysFor(keys, () => decodeProtectedHeader(token).kid)
  let problem = 'invalid signature, no keys found'
  for (const key of candidates) {
    try {
      return await verifyWith(key, token)
    } catch (error) {
      problem = problemIn(error)
    }
  }
  throw new TokenError(problem)
}

function keysFor(keys: readonly Key[], idOf: () => string | undefined): readonly Key[] {
  try {
    const id = idOf()
    return id === undefined ? keys : keys.filter(key => key.id === id)
  } catch {
    return []
  }
}

async function verifyWith({ publicKey, algorithm }: Key, token: string): Promise<Claims> {
  const { jwtVerify } = await loadJose()
  const { payload } = await jwtVerify(token, publicKey, { algorithms: [algorithm], clockTolerance: leeway })
  return payload
}

function problemIn(error: unknown): string {
  const { code, claim } = error as { readonly code?: string; readonly claim?: string }
  if (code === 'ERR_JWT_EXPIRED') return 'service account token has expired'
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED' && claim === 'nbf')
    return 'service account token is not valid yet'
  return 'invalid signature or unreadable claims'
}

async function published(keys: readonly Key[]): Promise<JSONWebKeySet> {
  const { exportJWK } = await loadJose()
  const jwks = keys.map(async ({ id, algorithm, publicKey }) => ({
    use: 'sig',
    ...(await exportJWK(publicKey)),
    kid: id,
    alg: algorithm,
  }))
  return { keys: await Promise.all(jwks) }
}
